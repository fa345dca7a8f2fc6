import { join } from 'node:path';
import { usageError } from '../errors.ts';
import { hashFile } from '../manifest/stage.ts';
import type { RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/**
 * What was reviewed is what runs, also the second time.
 *
 * @throws a usage error `MANIFEST_CHANGED` when the run's copy of its manifest is not what it was.
 */
export async function refuseChangedManifest(store: RunStore, { id, manifest }: RunRecord): Promise<void> {
  const path = join(store.folder(id), manifest.file);
  const { sha256 } = await hashFile(path);
  if (sha256 === manifest.sha256) return;
  throw usageError(
    'MANIFEST_CHANGED',
    `${path} is not what it was when run ${id} was planned: nothing is sent. Put the original back, or start a new run ` +
      'with not-attempted.csv ("cqbatch report" writes it).',
  );
}
