import { setTimeout as sleep } from 'node:timers/promises';
import { type Defer, withScope } from '../../base/async/scope.ts';
import { openScheduleStore } from '../../daemon/schedule/store.ts';
import { type Cluster, openCluster } from '../../engine/cluster/cluster.ts';
import { allRuns } from '../../engine/run/facts/all-runs.ts';
import { behindDaemon } from '../../engine/run/facts/behind-daemon.ts';
import { liveRun, readCluster } from '../../engine/run/facts/live-run.ts';
import { factsOfEntry, factsOfRecord } from '../../engine/run/facts/make-facts.ts';
import type { RunFacts } from '../../engine/run/facts/run-facts.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import { type KnownSummary, summaryOfRecord } from '../../engine/run/record/run-journal.ts';
import { anyRun, type FoundRun, isInProgress, withRun } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { statusDocument, statusLines, statusText } from '../render/status.ts';
import type { Terminal } from '../terminal.ts';

const followPollMs = 1_000;
const printEveryLooks = 5;

export async function status(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return statusOfRuns(await openContext(flags), id);
}

/** Without an id: all runs in progress; if there is none, the newest run. */
export async function statusOfRuns(context: Context, id: string | undefined): Promise<ExitCode> {
  const { terminal, flags } = context;
  return withScope(async (defer) => {
    if (id !== undefined)
      return withRun(context, id, anyRun, async (found) =>
        show(context, found, 'entry' in found ? found.cluster : await sharedCluster(context, defer), defer),
      );
    const cluster = await sharedCluster(context, defer);
    const { runs, look } = runsInProgress(context, cluster, defer);
    const known = await look();
    if (known.length > 1) return showAll(context, flags.watch ? await follow(terminal, look) : known);
    const only = known[0]?.id ?? runs.newestId;
    return withRun(context, only, anyRun, (found) => show(context, found, cluster, defer));
  });
}

/** Looks at the runs in progress, and at those that have been: runs start and end while the command follows them. */
function runsInProgress({ store, terminal }: Context, cluster: Cluster | undefined, defer: Defer) {
  const runs = allRuns(store, warningOnce(terminal));
  defer(() => runs.close());
  const schedules = openScheduleStore(store.stateDir);
  const followed = new Map<string, RunFacts>();
  const look = async (): Promise<readonly RunFacts[]> => {
    const isWanted = (id: string, state: string): boolean => isInProgress(state) || followed.has(id);
    const found = await runs.read(cluster && (await readCluster(cluster)), isWanted);
    for (const facts of behindDaemon(found, await schedules.daemon())) followed.set(facts.id, facts);
    return [...followed.values()];
  };
  return { runs, look };
}

/** Opens the cluster. If the datastore does not answer, the state folder still shows something. */
async function sharedCluster({ terminal, datastore }: Context, defer: Defer): Promise<Cluster | undefined> {
  // The embedded datastore stays closed, because only one process can open it.
  if (datastore.queue === undefined) return undefined;
  try {
    return openCluster(await datastore.open('look', defer));
  } catch (error) {
    terminal.warn(`warning: only what the state folder has is shown: ${(error as Error).message}`);
    return undefined;
  }
}

function warningOnce(terminal: Terminal): (error: Error) => void {
  const warnings = new Set<string>();
  return ({ message }) => {
    if (!warnings.has(message)) terminal.warn(`warning: ${message}`);
    warnings.add(message);
  };
}

async function show(
  context: Context,
  found: FoundRun,
  cluster: Cluster | undefined,
  defer: Defer,
): Promise<ExitCode> {
  const { terminal, store, flags } = context;
  const { look: lookAtAll } = runsInProgress(context, undefined, defer);
  const look = async (): Promise<readonly [RunFacts]> => {
    if ('entry' in found)
      return [
        factsOfEntry(found.entry, cluster && (await liveRun(cluster, found.entry.id)), store.completed),
      ];
    const record = await store.load(found.record.id);
    const live = cluster && (await liveRun(cluster, record.id));
    const facts = await factsOfRecord(store, record, live, flags.json ? undefined : summaryForText(record));
    // A submitted run may wait for another run, and not for a daemon.
    const others = facts.wait?.of === 'daemon' ? await lookAtAll() : [];
    return [others.find(({ id }) => id === facts.id) ?? facts];
  };
  const [run] = await (flags.watch ? follow(terminal, look) : look());
  terminal.result(statusDocument(run), statusText(run));
  return flags.watch ? exitCodeOf(run, run.counts) : exitCodes.success;
}

/** The summary in the record, if it has all that the text shows: reading the journal of a million rows takes seconds. */
function summaryForText(record: RunRecord): KnownSummary | undefined {
  const summary = record.state === 'completed' ? summaryOfRecord(record) : undefined;
  return summary?.unclear === undefined ? undefined : summary;
}

async function follow<Runs extends readonly RunFacts[]>(
  terminal: Terminal,
  look: () => Promise<Runs>,
): Promise<Runs> {
  for (let looks = 0; ; looks++) {
    const runs = await look();
    if (runs.every(({ ended }) => ended)) return runs;
    const lines = runs.flatMap((run) => statusLines(run));
    if (terminal.live) terminal.drawLines(lines);
    else if (looks % printEveryLooks === 0) terminal.say(lines.join('\n'));
    await sleep(followPollMs);
  }
}

function showAll({ terminal, flags }: Context, runs: readonly RunFacts[]): ExitCode {
  const lines = runs.flatMap((run) => statusLines(run));
  terminal.result({ runs: runs.map(statusDocument) }, lines.join('\n'));
  if (!flags.watch) return exitCodes.success;
  const codes = runs.map((run) => exitCodeOf(run, run.counts));
  return codes.toSorted((a, b) => a - b).at(-1) ?? exitCodes.success;
}
