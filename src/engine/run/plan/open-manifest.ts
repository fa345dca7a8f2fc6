import type { ConflictRule } from '../../../domain/terms.ts';
import { watchedForRounding } from '../../manifest/check/rounded-ids.ts';
import {
  createRowPreparer,
  type PreparerOptions,
  type RowPreparer,
} from '../../manifest/columns/row-preparer.ts';
import { chosenBy, ownColumnsIn } from '../../manifest/columns/where.ts';
import type { Manifest, ReadingOptions } from '../../manifest/manifest.ts';
import { openManifest } from '../../manifest/open.ts';
import type { ReadingContext } from '../../manifest/text/source.ts';
import type { RunStore } from '../record/store.ts';

export interface OpenedManifest {
  readonly manifest: Manifest;
  readonly prepare: RowPreparer;
}

export interface RowOptions extends ReadingOptions {
  /** The operation of all rows. Absent when rows, manifest or columns name it. */
  readonly operation?: string;
  readonly where?: readonly string[];
  /** Values by field, for rows that omit the field. */
  readonly default?: Readonly<Record<string, string>>;
  /** The fields that columns stand for, by the title of the column. */
  readonly map?: Readonly<Record<string, string>>;
  readonly clearToken: string;
  /** What happens to rows that want different things of one entry. Default: `refuse`. */
  readonly onConflict?: ConflictRule;
  readonly trustIds?: boolean;
  readonly strict?: boolean;
  /** Whether rows are compared with what the service lists, and completed to whole entries. */
  readonly compare?: boolean;
}

/**
 * The same file and options always give the same calls.
 *
 * @throws a usage error when the file is not a manifest or its operation is unknown
 */
export async function openPlannedManifest(
  path: string,
  name: string,
  options: RowOptions,
  context: ReadingContext & Pick<RunStore, 'operations'> & Pick<PreparerOptions, 'isCompared'>,
): Promise<OpenedManifest> {
  const { operation, default: defaults, map, where, strict } = options;
  const { operations, isCompared } = context;
  const keptColumns = [...ownColumnsIn(where ?? []), ...Object.keys(map ?? {})];
  const opened = await openManifest(path, { ...options, name, context, keptColumns });
  const whole = options.trustIds === true ? opened : watchedForRounding(opened, operations, map);
  const manifest = where === undefined ? whole : chosenBy(where, whole);
  return {
    manifest,
    prepare: createRowPreparer({ manifest, operation, operations, defaults, map, strict, isCompared }),
  };
}
