import type { Manifest } from '../manifest/manifest.ts';
import { openManifest } from '../manifest/open.ts';
import { createRowPreparer, type RowPreparer } from '../manifest/row-preparer.ts';
import type { ReadingLimits } from '../manifest/text/source.ts';
import type { RunOptions } from './record.ts';

/** A manifest with the function that turns its rows into calls. */
export interface PlannedManifest {
  readonly manifest: Manifest;
  readonly prepare: RowPreparer;
  /** Field name to the value of rows that leave it out, from `--user-id` or the manifest's own `defaults`. */
  readonly defaults: ReadonlyMap<string, unknown>;
}

/** The options of a run that decide what its rows mean. */
export type RowOptions = Pick<RunOptions, 'operation' | 'userId' | 'clearToken'>;

/**
 * Opens a manifest for a plan or a run; the same file and options always give the same calls.
 *
 * @throws a usage error when the file is no manifest or its operation can't be told.
 */
export async function openPlannedManifest(
  path: string,
  name: string,
  options: RowOptions,
  limits: ReadingLimits = {},
): Promise<PlannedManifest> {
  const manifest = await openManifest(path, { name, clearToken: options.clearToken, limits });
  const prepare = createRowPreparer({ manifest, operation: options.operation, userId: options.userId });
  return { manifest, prepare, defaults: prepare.defaults };
}
