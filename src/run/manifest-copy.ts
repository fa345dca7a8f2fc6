import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CqbatchError, fatalError, usageError } from '../errors.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { hashFile } from '../manifest/stage.ts';
import { systemError } from '../system-error.ts';
import { openPlannedManifest, type PlannedManifest } from './open-manifest.ts';
import type { RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/**
 * Opens a run's own copy of its manifest.
 *
 * @throws a fatal error, also while its rows are read: `MANIFEST_COPY_MISSING` when it is not there, `MANIFEST_…` when
 *   it can't be read.
 */
export async function openManifestCopy(store: RunStore, record: RunRecord): Promise<PlannedManifest> {
  const path = await copyOf(store, record);
  const planned = await openPlannedManifest(path, record.manifest.name, record.options);
  const { manifest } = planned;
  return { ...planned, manifest: { ...manifest, rows: () => rowsOfCopy(store, record, manifest) } };
}

async function* rowsOfCopy(
  store: RunStore,
  record: RunRecord,
  manifest: Manifest,
): ReturnType<Manifest['rows']> {
  try {
    yield* manifest.rows();
  } catch (error) {
    const path = await copyOf(store, record);
    if (!(error instanceof CqbatchError)) throw error;
    // The user's own file, whose name the message has, may be as it should be.
    throw fatalError(error.code, `${error.message} (in ${path}, the copy of run ${record.id})`, error);
  }
}

/**
 * What was reviewed is what runs, also the second time.
 *
 * @throws a usage error `MANIFEST_CHANGED` when the run's copy of its manifest is not what it was, a fatal error
 *   `MANIFEST_COPY_MISSING` when it is not there.
 */
export async function refuseChangedManifest(store: RunStore, record: RunRecord): Promise<void> {
  const path = await copyOf(store, record);
  const { sha256 } = await hashFile(path);
  if (sha256 === record.manifest.sha256) return;
  throw usageError(
    'MANIFEST_CHANGED',
    `${path} is not what it was when run ${record.id} was planned: nothing is sent. Put the original back, or start a ` +
      'new run with not-attempted.csv ("cqbatch report" writes it).',
  );
}

async function copyOf(store: RunStore, { id, manifest }: RunRecord): Promise<string> {
  const path = join(store.folder(id), manifest.file);
  try {
    await stat(path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw systemError(error, path) ?? error;
    throw fatalError(
      'MANIFEST_COPY_MISSING',
      `${path} is not there: put a copy of ${manifest.name} in its place, as it was when run ${id} was planned ` +
        `(SHA-256 ${manifest.sha256}).`,
      error,
    );
  }
}
