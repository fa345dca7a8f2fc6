import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fatalError, usageError } from '../errors.ts';
import { hashFile } from '../manifest/stage.ts';
import { systemError } from '../system-error.ts';
import { openPlannedManifest, type PlannedManifest } from './open-manifest.ts';
import type { RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/**
 * Opens a run's own copy of its manifest.
 *
 * @throws a fatal error `MANIFEST_COPY_MISSING` when it is not there.
 */
export async function openManifestCopy(store: RunStore, record: RunRecord): Promise<PlannedManifest> {
  const { manifest, options } = record;
  return openPlannedManifest(await copyOf(store, record), manifest.name, options);
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
