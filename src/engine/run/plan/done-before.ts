import { withScope } from '../../../base/async/scope.ts';
import { statIfAny } from '../../../base/disk/files.ts';
import { BusyError, CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { runIds } from '../../../domain/names.ts';
import type { DoneRows } from '../../manifest/check/call-index.ts';
import { goesOnByItself, type RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { type ReadReportOptions, readReport } from './read-report.ts';
import { retriesAfter, retriesAmong, undosOf } from './retries.ts';
import { callsOf, openLastRowsWithResults } from './rows-with-results.ts';

export interface ReadDoneOptions extends Omit<ReadReportOptions, 'operations'> {
  readonly baseUrl?: string | undefined;
}

/**
 * Notes what runs with their retries, and report files, have done.
 *
 * @param names ids of runs or parts of them, or paths of files
 * @throws a usage error when a run or file does not exist, a file is not a report, or a run called another API; a busy error when a run is
 *   in progress
 */
export async function readDone(
  store: RunStore,
  names: readonly string[],
  done: DoneRows,
  options: ReadDoneOptions,
): Promise<void> {
  for (const name of names) {
    const record = await findRunOrFile(store, name);
    if (record !== undefined) await noteRun(store, record, done, options);
    else await noteReport(name, done, { ...options, operations: store.operations });
  }
}

async function findRunOrFile(store: RunStore, name: string): Promise<RunRecord | undefined> {
  const isFile = (await statIfAny(name))?.isDirectory() === false;
  if (isFile && !runIds.has(name)) return undefined;
  try {
    return await store.find(name);
  } catch (error) {
    if (!(error instanceof CqbatchError) || error.code !== 'RUN_UNKNOWN') throw error;
    if (isFile) return undefined;
    throw usageError(
      'RUN_UNKNOWN',
      `--skip-done ${name}: no run in ${store.stateDir} and no file has this name. "cqbatch list" shows the runs.`,
    );
  }
}

async function noteRun(
  store: RunStore,
  record: RunRecord,
  done: DoneRows,
  { baseUrl }: ReadDoneOptions,
): Promise<void> {
  const { id, options } = record;
  if (baseUrl !== undefined && options.baseUrl !== baseUrl) {
    throw usageError(
      'OTHER_API',
      `--skip-done ${id}: that run called ${options.baseUrl}, so its rows are not done on ${baseUrl}: leave it out.`,
    );
  }
  done.begin(id);
  const runs = await store.list();
  await noteRunAndUndos(store, runs, runs.find((run) => run.id === id) ?? record, done, 'done');
}

/**
 * Notes what a run and its retries have done, or an undo has undone; then the undos of each run, in the order of their making.
 *
 * @param runs oldest first
 */
async function noteRunAndUndos(
  store: RunStore,
  runs: readonly RunRecord[],
  record: RunRecord,
  done: DoneRows,
  effect: 'done' | 'undone',
): Promise<void> {
  const retries = retriesOf(runs, record);
  const members = [record, ...retries, ...sourcesOf(runs, record)];
  const since = new Set(runs.slice(runs.indexOf(record)));
  const undos = new Set(members.flatMap((run) => undosOf(runs, run)).filter((undo) => since.has(undo)));
  const going = [record, ...retries, ...undos].find(goesOnByItself);
  if (going !== undefined)
    throw new BusyError(
      'RUN_RUNNING',
      `Run ${going.id} is still in progress`,
      'Wait for its end, or cancel it.',
    );
  const firstUndo = runs.findIndex((run) => undos.has(run));
  const sinceUndo = new Set(firstUndo < 0 ? [] : runs.slice(firstUndo));
  const retriesBeforeUndo = retries.filter((retry) => !sinceUndo.has(retry));
  await noteLines(store, record, retriesBeforeUndo, done, effect);
  for (const run of sinceUndo) {
    if (undos.has(run)) await noteRunAndUndos(store, runs, run, done, effect === 'done' ? 'undone' : 'done');
    else if (retries.includes(run)) await noteLines(store, run, [], done, effect);
  }
}

/** Runs whose rows a run left out as done: an undo of these applies to that run, too. */
function sourcesOf(runs: readonly RunRecord[], { plan }: RunRecord): readonly RunRecord[] {
  const sources = runs.filter(({ id }) => plan.skipDone?.includes(id));
  return sources.flatMap((run) => [run, ...retriesOf(runs, run), ...sourcesOf(runs, run)]);
}

function retriesOf(runs: readonly RunRecord[], run: RunRecord): readonly RunRecord[] {
  return retriesAfter(retriesAmong(runs, run), run);
}

async function noteLines(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  done: DoneRows,
  effect: 'done' | 'undone',
): Promise<void> {
  await withScope(async (defer) => {
    for await (const part of callsOf(await openLastRowsWithResults(store, record, later, defer))) {
      for (const { row, result } of part) {
        const subject = { operation: row.operation.name, subject: row.subject };
        if (effect === 'done') done.note(subject, result.row, result);
        // An unclear undo may have put the old value back.
        else if (result.outcome === 'succeeded' || result.unclear) done.undo(subject);
      }
    }
  });
}

async function noteReport(path: string, done: DoneRows, options: ReadReportOptions): Promise<void> {
  done.begin(path);
  for await (const rows of readReport(path, options)) {
    for (const row of rows) done.note(row, row.row, row);
  }
}
