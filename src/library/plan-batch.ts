import { withScope } from '../base/async/scope.ts';
import { neverAborted } from '../base/async/waiting.ts';
import type { ErrorCode } from '../base/errors/error-codes.ts';
import type { ApiClient } from '../engine/api/client.ts';
import type { RowCounts } from '../engine/rows/row-counts.ts';
import type { Change } from '../engine/run/plan/change-file.ts';
import { type CheckedManifest, checkManifest } from '../engine/run/plan/check-manifest.ts';
import { type ReadyRows, readyRows, refusalOf, unreadyText } from '../engine/run/plan/readiness.ts';
import { rowOptions } from '../settings/run-options.ts';
import { defaults } from '../settings/settings.ts';
import { listsToRead } from './listing.ts';
import { type BatchOptions, missingOption, openBatchPlace } from './place.ts';
import { inProgramWords, withProgramWords } from './program-words.ts';

/** What a batch would do. */
export interface BatchPlan extends RowCounts {
  /** Rows that the setting `where` leaves out; no other count includes them. */
  readonly leftOut: number;
  /** With the setting `compare`: the first ten changes of fields. */
  readonly changes?: readonly Change[];
  /** The first 20 problems, each one line: file, line, row, column and what to write. */
  readonly problems: readonly string[];
  /** Path of a file with all problems; absent if there are none. */
  readonly problemFile?: string;
  /** Why the batch must not begin; absent when it may. */
  readonly refusal?: { readonly code: ErrorCode; readonly message: string };
}

export interface PlanBatchOptions extends BatchOptions {
  /** Reads the lists of the service; needed with the setting `compare`. */
  readonly client?: ApiClient;
}

/**
 * Reads and checks every row of a manifest. Sends nothing, but for reading lists with the setting `compare`.
 *
 * @throws CqbatchError (`usage`) when the manifest or a setting can't be read, or the operation of the rows is unknown
 */
export function planBatch(options: PlanBatchOptions): Promise<BatchPlan> {
  return withProgramWords(() => planOfBatch(options));
}

async function planOfBatch(options: PlanBatchOptions): Promise<BatchPlan> {
  const { manifest } = options;
  if (typeof manifest !== 'string') throw missingOption('manifest', 'the path of a file');
  const { store, settings } = openBatchPlace(options);
  const reading = rowOptions(options, settings);
  const { client } = options;
  if (settings.compare && client === undefined)
    throw missingOption('client', 'the one of the batch: the setting compare reads lists');
  return withScope(async (defer) => {
    const lists = client && (await listsToRead(client, store, settings)?.(neverAborted, defer));
    const checked = await checkManifest(store, { path: manifest, name: manifest, reading, lists });
    const { onConflict = defaults.onConflict } = reading;
    return batchPlan(
      await readyRows(store, checked, { onConflict }, { ...settings, skipInvalid: options.skipInvalid }),
    );
  });
}

export function batchPlan(
  rows: Pick<CheckedManifest, 'scan' | 'problems' | 'compared'> & ReadyRows,
): BatchPlan {
  const { scan, problems, compared } = rows;
  const code = refusalOf(rows);
  return {
    rows: scan.rows,
    callable: scan.callable,
    invalid: scan.invalid,
    duplicates: scan.duplicates,
    conflicts: scan.conflicts,
    partial: scan.partial,
    superseded: scan.superseded,
    doneBefore: scan.doneBefore,
    asWanted: scan.asWanted,
    leftOut: scan.leftOut,
    problems: [...problems.firstProblems, ...problems.firstConflicts],
    ...(compared && { changes: compared.firstChanges }),
    ...(problems.file !== undefined && { problemFile: problems.file }),
    ...(code !== undefined && { refusal: { code, message: inProgramWords(unreadyText(rows)) } }),
  };
}
