import { setTimeout as sleep } from 'node:timers/promises';
import {
  allRuns,
  type Cluster,
  liveRun,
  lookAtCluster,
  openCluster,
  type RunView,
  viewOfEntry,
  viewOfRecord,
} from '../../../index.ts';
import { type AtEnd, withReleases } from '../../../releases.ts';
import type { Flags } from '../../config/load.ts';
import { type Context, openContext } from '../../context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../exit-codes.ts';
import { statusDocument, statusLine, statusText } from '../../render/status.ts';
import type { Terminal } from '../../terminal.ts';
import { anyRun, type FoundRun, isGoing, withRun } from './find-run.ts';

const lookMs = 1_000;
const printEveryLooks = 5;

/** `cqbatch status`: where a run stands, from its folder and from the shared datastore; or where all stand that are going. */
export async function status(id: string | undefined, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  return withReleases(async (atEnd) => {
    if (id === undefined && flags.watch) {
      const cluster = await seenFromHere(context, atEnd);
      const all = allRuns(context.store, warningOnce(context.terminal));
      atEnd(() => all.close());
      const look = async (ids?: ReadonlySet<string>): Promise<readonly RunView[]> =>
        all.look(
          cluster && (await lookAtCluster(cluster)),
          (each, state) => isGoing(state) || ids?.has(each) === true,
        );
      const going = await look();
      if (going.length > 1) return showAll(context, await followAll(context.terminal, look));
      return withRun(context, going[0]?.id, anyRun, (found) => show(context, found, cluster));
    }
    return withRun(context, id, anyRun, async (found) =>
      show(context, found, 'entry' in found ? found.cluster : await seenFromHere(context, atEnd)),
    );
  });
}

/** The shared datastore, if there is one that answers: what the state folder tells is better than nothing. */
async function seenFromHere({ terminal, datastore }: Context, atEnd: AtEnd): Promise<Cluster | undefined> {
  // The embedded datastore can be looked into by one process only.
  if (datastore.queue === undefined) return undefined;
  try {
    const opened = await datastore.open('look');
    atEnd(() => opened.close());
    return openCluster(opened);
  } catch (error) {
    terminal.warn(`warning: only what the state folder knows: ${(error as Error).message}`);
    return undefined;
  }
}

function warningOnce(terminal: Terminal): (error: Error) => void {
  const told = new Set<string>();
  return ({ message }) => {
    if (!told.has(message)) terminal.warn(`warning: ${message}`);
    told.add(message);
  };
}

/** One run, to its end if that is wanted. */
async function show(
  { terminal, store, flags }: Context,
  found: FoundRun,
  cluster: Cluster | undefined,
): Promise<ExitCode> {
  const look = async (): Promise<RunView> => {
    if ('entry' in found)
      return viewOfEntry(found.entry, cluster && (await liveRun(cluster, found.entry.id)));
    const record = await store.load(found.record.id);
    return viewOfRecord(store, record, cluster && (await liveRun(cluster, record.id)));
  };
  const view = flags.watch ? await follow(terminal, look) : await look();
  terminal.result(statusDocument(view), statusText(view));
  return flags.watch ? exitCodeOf(view, view.counts) : exitCodes.success;
}

/** Shows how a run is getting on, until nobody works on it any more. */
async function follow(terminal: Terminal, look: () => Promise<RunView>): Promise<RunView> {
  for (let looks = 0; ; looks++) {
    const view = await look();
    if (view.ended) return view;
    if (terminal.live) terminal.draw(statusLine(view));
    else if (looks % printEveryLooks === 0) terminal.say(statusLine(view));
    await sleep(lookMs);
  }
}

/**
 * Shows how runs are getting on, also those that begin meanwhile, until none is going.
 *
 * @param look for runs that are going, and for those of these ids
 * @returns all that were seen going, as they are now
 */
async function followAll(
  terminal: Terminal,
  look: (ids: ReadonlySet<string>) => Promise<readonly RunView[]>,
): Promise<readonly RunView[]> {
  const seen = new Map<string, RunView>();
  for (let looks = 0; ; looks++) {
    const views = await look(new Set(seen.keys()));
    for (const view of views) seen.set(view.id, view);
    if (!views.some(({ state }) => isGoing(state))) return [...seen.values()];
    const lines = [...seen.values()].map(statusLine);
    if (terminal.live) terminal.drawLines(lines);
    else if (looks % printEveryLooks === 0) terminal.say(lines.join('\n'));
    await sleep(lookMs);
  }
}

/** @returns the highest of their exit codes */
function showAll({ terminal }: Context, views: readonly RunView[]): ExitCode {
  terminal.result({ runs: views.map(statusDocument) }, views.map(statusLine).join('\n'));
  const codes = views.map((view) => exitCodeOf(view, view.counts));
  return codes.toSorted((a, b) => a - b).at(-1) ?? exitCodes.success;
}
