import { count, counted, duration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import { apiText, type LimitedApi, type OutcomeCounts, totalOf } from '../../domain/terms.ts';
import { actualEntryState } from '../../engine/cluster/entries.ts';
import { actualState, type RunRecord, stateInWords } from '../../engine/run/record/record.ts';
import { progressOf } from '../../engine/run/record/run-journal.ts';
import { delayOf } from '../../engine/run/record/run-view.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { retriedFacts } from '../../engine/run/report/retried.ts';
import { newestEntries } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, type DatastoreChoice, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { fittedTable, type TableColumn } from '../render/fitted-table.ts';
import { styled } from '../render/style.ts';
import { clockTime, styledState, timeAgo } from '../render/words.ts';

interface ListedRun {
  readonly run: string;
  readonly state: string;
  readonly waiting: string | null;
  readonly manifest: string;
  readonly base_url: string;
  readonly rate_group?: string;
  readonly started_at: string | null;
  readonly duration_s: number | null;
  readonly rows: number;
  readonly done: number | null;
  readonly succeeded: number | null;
  readonly failed: number | null;
  /** Its retries have left no row to retry. */
  readonly cured: boolean;
  /** Null for this state folder. */
  readonly host: string | null;
}

/** A run, and what only its line shows. */
interface ShownRun {
  readonly run: ListedRun;
  /** In words. */
  readonly state: string;
  readonly unclear: number;
}

/** @param warn called for a damaged journal */
async function shownRecord(
  store: RunStore,
  record: RunRecord,
  runs: readonly RunRecord[],
  warn: (error: Error) => undefined,
): Promise<ShownRun> {
  const { id, manifest, plan, options, states } = record;
  const progress = await progressOf(store, record).catch(warn);
  const run: ListedRun = {
    run: id,
    state: actualState(record),
    waiting: delayOf(record) ?? null,
    manifest: manifest.name,
    ...apiOf(options),
    started_at: states.find(({ state }) => state === 'running')?.at ?? null,
    duration_s: progress === undefined ? null : Math.round(progress.activeMs / 1_000),
    rows: plan.rows,
    done: progress?.done ?? null,
    ...rowCounts(progress?.outcomes),
    cured: (progress?.outcomes.failed ?? 0) > 0 && (await retriedFacts(store, record, runs)).isCured === true,
    host: null,
  };
  return { run, state: stateInWords(record), unclear: progress?.unclear ?? 0 };
}

function apiOf({ baseUrl, rateGroup }: LimitedApi): Pick<ListedRun, 'base_url' | 'rate_group'> {
  return { base_url: baseUrl, ...(rateGroup !== undefined && { rate_group: rateGroup }) };
}

function rowCounts(counts: OutcomeCounts | undefined) {
  return {
    succeeded: counts?.succeeded ?? null,
    failed: counts?.failed ?? null,
  };
}

async function runsElsewhere(
  datastore: DatastoreChoice,
  listedIds: ReadonlySet<string>,
): Promise<readonly ListedRun[]> {
  if (datastore.queue === undefined) return [];
  return (await newestEntries(datastore))
    .filter(({ id }) => !listedIds.has(id))
    .map((entry) => ({
      run: entry.id,
      state: actualEntryState(entry),
      waiting: (actualEntryState(entry) === 'running' ? entry.waiting : undefined) ?? null,
      manifest: entry.manifest,
      ...apiOf(entry),
      started_at: entry.startedAt || null,
      duration_s: null,
      rows: entry.rows,
      done: entry.done ?? totalOf(entry.counts),
      ...rowCounts(entry.counts),
      cured: false,
      host: entry.coordinator.host,
    }));
}

/** Newest first; runs of other machines last. */
export async function list(flags: Flags): Promise<ExitCode> {
  return listIn(await openContext(flags));
}

export async function listIn({ terminal, flags, store, datastore }: Context): Promise<ExitCode> {
  const warn = ({ message }: Error): undefined => {
    terminal.warn(`warning: ${message}`);
  };
  const shown: ShownRun[] = [];
  const records = await store.list(warn);
  for (const record of records.toReversed()) {
    shown.push(await shownRecord(store, record, records, warn));
  }
  try {
    const elsewhere = await runsElsewhere(datastore, new Set(records.map(({ id }) => id)));
    shown.push(...elsewhere.map((run) => ({ run, state: run.state, unclear: 0 })));
  } catch (error) {
    terminal.warn(`warning: only the runs of ${store.stateDir} are shown: ${(error as Error).message}`);
  }
  const isExact = flags.verbose === true;
  const columns = isExact ? undefined : terminal.columns;
  const timeText = isExact ? localTime : columns === undefined ? clockTimeOf : timeAgoOf;
  const text =
    shown.length === 0 ? `There is no run in ${store.stateDir} yet.` : listText(shown, columns, timeText);
  terminal.result({ runs: shown.map(({ run }) => run) }, text);
  return exitCodes.success;
}

/** In the order of the cells that `cellsOf` makes. */
const columnsOfList: readonly TableColumn[] = [
  { title: 'run' },
  { title: 'state' },
  { title: 'started' },
  { title: 'duration', mayBeLeftOut: true },
  { title: 'done', isNumber: true },
  { title: 'failed', isNumber: true },
  { title: 'API', mayBeCut: true, ofAll: (api, runs) => `${runs === 1 ? 'At' : 'All at'} ${api}.` },
  { title: 'manifest', mayBeCut: true },
];

const clockTimeOf = (at: string): string => clockTime(new Date(at));
const timeAgoOf = (at: string): string => timeAgo(new Date(at));

/** @param columns of the screen; undefined: all columns */
function listText(
  shown: readonly ShownRun[],
  columns: number | undefined,
  timeText: (at: string) => string,
): string {
  const cells = shown.map((each) => cellsOf(each, timeText));
  const notes = shown.flatMap(({ run: { run, waiting }, unclear }) => [
    ...(waiting === null ? [] : [`${run} waits: ${waiting}`]),
    ...(unclear > 0 ? [`${run} has ${counted(unclear, 'unclear row')}`] : []),
  ]);
  const texts = notes.map((note) => styled('yellow', note));
  return [...fittedTable(columnsOfList, cells, columns), ...texts].join('\n');
}

function cellsOf({ run, state, unclear }: ShownRun, timeText: (at: string) => string): readonly string[] {
  return [
    run.run,
    unclear > 0 && run.state === 'completed' ? styled('yellow', state) : styledState(run.state, state),
    run.started_at === null ? 'not yet' : timeText(run.started_at),
    run.duration_s === null ? '?' : duration(run.duration_s),
    run.done === run.rows ? count(run.rows) : `${numberOf(run.done)}/${count(run.rows)}`,
    run.cured ? `${numberOf(run.failed)} (cured)` : styled(run.failed ? 'red' : 'dim', numberOf(run.failed)),
    apiText({ baseUrl: run.base_url, rateGroup: run.rate_group }).replace(/^https:\/\//, ''),
    run.host === null ? run.manifest : `${run.manifest} (on ${run.host})`,
  ];
}

function numberOf(rows: number | null): string {
  return rows === null ? '?' : count(rows);
}
