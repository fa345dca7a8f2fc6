import { count, duration } from '../../base/text/format.ts';
import { apiText, type LimitedApi, type OutcomeCounts, totalOf } from '../../domain/terms.ts';
import { actualEntryState } from '../../engine/cluster/entries.ts';
import { actualState, type RunRecord, stateInWords } from '../../engine/run/record/record.ts';
import { progressOf } from '../../engine/run/record/run-journal.ts';
import { delayOf } from '../../engine/run/record/run-view.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { isCured } from '../../engine/run/report/next-commands.ts';
import { newestEntries } from '../../engine/run/session/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, type DatastoreChoice, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { clockTime, table } from '../render/words.ts';

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

/** @param warn called for a damaged journal */
async function listedRecord(
  store: RunStore,
  record: RunRecord,
  runs: readonly RunRecord[],
  warn: (error: Error) => undefined,
): Promise<ListedRun> {
  const { id, manifest, plan, options, states } = record;
  const progress = await progressOf(store, record).catch(warn);
  return {
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
    cured: (progress?.outcomes.failed ?? 0) > 0 && (await isCured(store, record, runs)),
    host: null,
  };
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

export async function listIn({ terminal, store, datastore }: Context): Promise<ExitCode> {
  const warn = ({ message }: Error): undefined => {
    terminal.warn(`warning: ${message}`);
  };
  const runs: ListedRun[] = [];
  const records = await store.list(warn);
  for (const record of records.toReversed()) {
    runs.push(await listedRecord(store, record, records, warn));
  }
  try {
    runs.push(...(await runsElsewhere(datastore, new Set(runs.map(({ run }) => run)))));
  } catch (error) {
    terminal.warn(`warning: only the runs of ${store.stateDir} are shown: ${(error as Error).message}`);
  }
  const states = new Map(records.map((record) => [record.id, stateInWords(record)]));
  const text = runs.length === 0 ? `There is no run in ${store.stateDir} yet.` : listText(runs, states);
  terminal.result({ runs }, text);
  return exitCodes.success;
}

const header = ['run', 'state', 'started', 'duration', 'done', 'failed', 'API', 'manifest'];

/** @param states in words, of the runs of this state folder */
function listText(runs: readonly ListedRun[], states: ReadonlyMap<string, string>): string {
  const cells = runs.map((run) => [
    run.run,
    (run.host === null ? states.get(run.run) : undefined) ?? run.state,
    run.started_at === null ? 'not yet' : clockTime(new Date(run.started_at)),
    run.duration_s === null ? '?' : duration(run.duration_s),
    run.done === run.rows ? count(run.rows) : `${numberOf(run.done)}/${count(run.rows)}`,
    run.cured ? `${numberOf(run.failed)} (cured)` : numberOf(run.failed),
    apiText({ baseUrl: run.base_url, rateGroup: run.rate_group }).replace(/^https:\/\//, ''),
    run.host === null ? run.manifest : `${run.manifest} (on ${run.host})`,
  ]);
  const waits = runs.flatMap(({ run, waiting }) => (waiting === null ? [] : [`${run} waits: ${waiting}`]));
  return [...table([header, ...cells], [4, 5]), ...waits].join('\n');
}

function numberOf(rows: number | null): string {
  return rows === null ? '?' : count(rows);
}
