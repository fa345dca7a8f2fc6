import { setTimeout as sleep } from 'node:timers/promises';
import { type Defer, withScope } from '../../base/async/scope.ts';
import { type Cluster, openCluster } from '../../engine/cluster/cluster.ts';
import { allRuns, lookAtCluster } from '../../engine/run/record/all-runs.ts';
import { liveRun, type RunView, viewOfEntry, viewOfRecord } from '../../engine/run/record/run-view.ts';
import { anyRun, type FoundRun, isInProgress, withRun } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { type Context, openContext } from '../context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { statusDocument, statusLines, statusText } from '../render/status.ts';
import type { Terminal } from '../terminal.ts';

const lookMs = 1_000;
const printEveryLooks = 5;

export async function status(id: string | undefined, flags: Flags): Promise<ExitCode> {
  return statusIn(await openContext(flags), id);
}

export async function statusIn(context: Context, id: string | undefined): Promise<ExitCode> {
  const { flags } = context;
  return withScope(async (defer) => {
    if (id === undefined && flags.watch) {
      const cluster = await sharedCluster(context, defer);
      const runs = allRuns(context.store, warningOnce(context.terminal));
      defer(() => runs.close());
      // Runs start and end while the command follows them.
      const followed = new Map<string, RunView>();
      const look = async (): Promise<readonly RunView[]> => {
        const isWanted = (each: string, state: string): boolean => isInProgress(state) || followed.has(each);
        const views = await runs.look(cluster && (await lookAtCluster(cluster)), isWanted);
        for (const view of views) followed.set(view.id, view);
        return [...followed.values()];
      };
      const views = await look();
      if (views.length > 1) return showAll(context, await follow(context.terminal, look));
      return withRun(context, views[0]?.id, anyRun, (found) => show(context, found, cluster));
    }
    return withRun(context, id, anyRun, async (found) =>
      show(context, found, 'entry' in found ? found.cluster : await sharedCluster(context, defer)),
    );
  });
}

/** If the datastore does not answer, the state folder still shows something. */
async function sharedCluster({ terminal, datastore }: Context, defer: Defer): Promise<Cluster | undefined> {
  // Only one process can open the embedded datastore.
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
  const look = async (): Promise<readonly [RunView]> => {
    if ('entry' in found)
      return [viewOfEntry(found.entry, cluster && (await liveRun(cluster, found.entry.id)))];
    const record = await store.load(found.record.id);
    return [await viewOfRecord(store, record, cluster && (await liveRun(cluster, record.id)))];
  };
  const [view] = await (flags.watch ? follow(terminal, look) : look());
  terminal.result(statusDocument(view), statusText(view));
  return flags.watch ? exitCodeOf(view, view.counts) : exitCodes.success;
}

async function follow<Views extends readonly RunView[]>(
  terminal: Terminal,
  look: () => Promise<Views>,
): Promise<Views> {
  for (let looks = 0; ; looks++) {
    const views = await look();
    if (views.every(({ ended }) => ended)) return views;
    const lines = views.flatMap(statusLines);
    if (terminal.live) terminal.drawLines(lines);
    else if (looks % printEveryLooks === 0) terminal.say(lines.join('\n'));
    await sleep(lookMs);
  }
}

function showAll({ terminal }: Context, views: readonly RunView[]): ExitCode {
  terminal.result({ runs: views.map(statusDocument) }, views.flatMap(statusLines).join('\n'));
  const codes = views.map((view) => exitCodeOf(view, view.counts));
  return codes.toSorted((a, b) => a - b).at(-1) ?? exitCodes.success;
}
