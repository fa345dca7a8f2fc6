import { withScope } from '../../base/async/scope.ts';
import { count, counted, duration } from '../../base/text/format.ts';
import { clockTime, localTime, timeAgo } from '../../base/text/local-time.ts';
import { apiText } from '../../domain/terms.ts';
import { openCluster } from '../../engine/cluster/cluster.ts';
import { type ClusterSnapshot, readCluster, runInCluster } from '../../engine/run/facts/live-run.ts';
import { briefOfRecord, factsOfEntry, factsOfRecord } from '../../engine/run/facts/make-facts.ts';
import { finishedText } from '../../engine/run/facts/progress-words.ts';
import { runDocument, selectMembers } from '../../engine/run/facts/run-document.ts';
import type { RunBrief, RunFacts } from '../../engine/run/facts/run-facts.ts';
import { waitInOneText } from '../../engine/run/facts/run-wait.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import { progressOf } from '../../engine/run/record/run-journal.ts';
import { laterRetries, retriedFacts } from '../../engine/run/report/retried.ts';
import type { Flags } from '../config.ts';
import { type Context, type DatastoreChoice, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { fittedTable, type TableColumn } from '../render/fitted-table.ts';
import { styled } from '../render/style.ts';
import { styledRunState } from '../render/words.ts';

interface ListedRun {
  /** What is known of a run; only its brief facts when its journal can't be read. */
  readonly facts: RunBrief & Partial<RunFacts>;
  /** Whether the retries of a run have left no row to retry. */
  readonly isCured: boolean;
  /** The host whose state folder has the run. Null for this state folder. */
  readonly host: string | null;
}

function listedDocument({ facts, isCured, host }: ListedRun): object {
  const members = selectMembers(runDocument(facts), [
    'run',
    'state',
    'because',
    'waiting',
    'manifest',
    'base_url',
    'rate_group',
    'started_at',
    'duration_s',
    'rows',
    'done',
    'succeeded',
    'failed',
  ]);
  return { ...members, cured: isCured, host };
}

/** The run as `list` shows it. @param warn called for a damaged journal */
async function listedRecord(
  { store }: Pick<Context, 'store'>,
  record: RunRecord,
  runs: readonly RunRecord[],
  cluster: ClusterSnapshot | undefined,
  warn: (error: Error) => undefined,
): Promise<ListedRun> {
  const summary = await progressOf(store, record).catch(warn);
  if (summary === undefined) return { facts: briefOfRecord(record), isCured: false, host: null };
  const facts = await factsOfRecord(store, record, runInCluster(cluster, record.id), summary);
  const later = facts.counts.failed > 0 ? await laterRetries(store, record, runs) : [];
  const { isCured = false } = await retriedFacts(store, record, later);
  return { facts, isCured, host: null };
}

/** The runs and workers of the cluster. Undefined without a shared datastore. */
async function clusterSnapshot(datastore: DatastoreChoice): Promise<ClusterSnapshot | undefined> {
  if (datastore.queue === undefined) return undefined;
  return withScope(async (defer) => readCluster(openCluster(await datastore.open('look', defer))));
}

/** Lists the runs, the newest first, and those of other machines last. */
export async function list(flags: Flags): Promise<ExitCode> {
  return listRuns(await openContext(flags));
}

export async function listRuns({ terminal, flags, store, datastore }: Context): Promise<ExitCode> {
  const warn = ({ message }: Error): undefined => {
    terminal.warn(`warning: ${message}`);
  };
  const cluster = await clusterSnapshot(datastore).catch(({ message }: Error) =>
    warn(new Error(`only the runs of ${store.stateDir} are shown: ${message}`)),
  );
  const records = await store.list(warn);
  const listed: ListedRun[] = [];
  for (const record of records.toReversed())
    listed.push(await listedRecord({ store }, record, records, cluster, warn));
  const here = new Set(records.map(({ id }) => id));
  for (const entry of cluster?.entries ?? []) {
    if (here.has(entry.id)) continue;
    const facts = factsOfEntry(entry, runInCluster(cluster, entry.id), store.completed);
    listed.push({ facts, isCured: false, host: entry.coordinator.host });
  }
  const isExact = flags.verbose === true;
  const columns = isExact ? undefined : terminal.columns;
  const timeText = isExact ? localTime : columns === undefined ? clockTimeOf : timeAgoOf;
  const text =
    listed.length === 0 ? `There is no run in ${store.stateDir} yet.` : listText(listed, columns, timeText);
  terminal.result({ runs: listed.map(listedDocument) }, text);
  return exitCodes.success;
}

/** The columns of the list, in the order of the cells that `cellsOf` makes. */
const columnsOfList: readonly TableColumn[] = [
  { title: 'run' },
  { title: 'state' },
  { title: 'started' },
  { title: 'duration', mayBeLeftOut: true },
  { title: 'done', isNumber: true },
  { title: 'failed', isNumber: true },
  { title: 'API', mayBeCut: true, sentenceIfEqual: (api, runs) => `${runs === 1 ? 'At' : 'All at'} ${api}.` },
  { title: 'manifest', mayBeCut: true },
];

const clockTimeOf = (at: string): string => clockTime(new Date(at));
const timeAgoOf = (at: string): string => timeAgo(new Date(at));

/** The table of runs. @param columns of the screen; undefined: all columns of the table */
function listText(
  listed: readonly ListedRun[],
  columns: number | undefined,
  timeText: (at: string) => string,
): string {
  const cells = listed.map((each) => cellsOf(each, timeText));
  const notes = listed.flatMap(({ facts: { id, wait, local } }) => [
    ...(wait === undefined || wait.of === 'user' ? [] : [`${id} waits: ${waitInOneText(wait)}`]),
    ...(local?.unclear ? [`${id} has ${counted(local.unclear, 'unclear row')}`] : []),
  ]);
  const texts = notes.map((note) => styled('yellow', note));
  return [...fittedTable(columnsOfList, cells, columns), ...texts].join('\n');
}

function cellsOf({ facts, isCured, host }: ListedRun, timeText: (at: string) => string): readonly string[] {
  const { id, startedAt, rows, done, counts, local, manifest } = facts;
  const failed = counts?.failed;
  return [
    id,
    styledRunState(facts),
    startedAt === undefined ? 'not yet' : timeText(startedAt),
    local === undefined ? '?' : duration(local.activeMs / 1_000),
    done === rows ? count(rows) : finishedText(done, rows),
    isCured ? `${numberOf(failed)} (cured)` : styled(failed ? 'red' : 'dim', numberOf(failed)),
    apiText(facts).replace(/^https:\/\//, ''),
    host === null ? manifest : `${manifest} (on ${host})`,
  ];
}

function numberOf(rows: number | undefined): string {
  return rows === undefined ? '?' : count(rows);
}
