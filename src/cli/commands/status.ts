import { setTimeout as sleep } from 'node:timers/promises';
import { type Defer, withScope } from '../../base/async/scope.ts';
import { type Cluster, openCluster } from '../../engine/cluster/cluster.ts';
import { allRuns } from '../../engine/run/facts/all-runs.ts';
import { liveRun, readCluster } from '../../engine/run/facts/live-run.ts';
import { factsOfEntry, factsOfRecord } from '../../engine/run/facts/make-facts.ts';
import type { RunFacts } from '../../engine/run/facts/run-facts.ts';
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

export async function statusOfRuns(context: Context, id: string | undefined): Promise<ExitCode> {
  const { flags } = context;
  return withScope(async (defer) => {
    if (id === undefined && flags.watch) {
      const cluster = await sharedCluster(context, defer);
      const runs = allRuns(context.store, warningOnce(context.terminal));
      defer(() => runs.close());
      // The runs seen so far: runs start and end while the command follows them.
      const followed = new Map<string, RunFacts>();
      const look = async (): Promise<readonly RunFacts[]> => {
        const isWanted = (each: string, state: string): boolean => isInProgress(state) || followed.has(each);
        const found = await runs.read(cluster && (await readCluster(cluster)), isWanted);
        for (const facts of found) followed.set(facts.id, facts);
        return [...followed.values()];
      };
      const known = await look();
      if (known.length > 1) return showAll(context, await follow(context.terminal, look));
      return withRun(context, known[0]?.id, anyRun, (found) => show(context, found, cluster));
    }
    return withRun(context, id, anyRun, async (found) =>
      show(context, found, 'entry' in found ? found.cluster : await sharedCluster(context, defer)),
    );
  });
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
  { terminal, store, flags }: Context,
  found: FoundRun,
  cluster: Cluster | undefined,
): Promise<ExitCode> {
  const look = async (): Promise<readonly [RunFacts]> => {
    if ('entry' in found)
      return [factsOfEntry(found.entry, cluster && (await liveRun(cluster, found.entry.id)))];
    const record = await store.load(found.record.id);
    return [await factsOfRecord(store, record, cluster && (await liveRun(cluster, record.id)))];
  };
  const [run] = await (flags.watch ? follow(terminal, look) : look());
  terminal.result(statusDocument(run), statusText(run));
  return flags.watch ? exitCodeOf(run, run.counts) : exitCodes.success;
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

function showAll({ terminal }: Context, runs: readonly RunFacts[]): ExitCode {
  const lines = runs.flatMap((run) => statusLines(run));
  terminal.result({ runs: runs.map(statusDocument) }, lines.join('\n'));
  const codes = runs.map((run) => exitCodeOf(run, run.counts));
  return codes.toSorted((a, b) => a - b).at(-1) ?? exitCodes.success;
}
