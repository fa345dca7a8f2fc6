import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster } from '../../cluster/cluster.ts';
import type { Flags } from '../config/load.ts';
import { openContext } from '../context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { type RunView, statusDocument, statusLine, statusText } from '../render/status.ts';
import type { Terminal } from '../terminal.ts';
import { anyRun, findRun } from './find-run.ts';
import { liveRun, viewOfEntry, viewOfRecord } from './run-view.ts';

const lookMs = 1_000;
const printEveryLooks = 5;

/** `cqbatch status`: where a run stands, from its folder and from the shared datastore. */
export async function status(id: string | undefined, flags: Flags): Promise<ExitCode> {
  const { terminal, store, datastore } = await openContext(flags);
  const found = await findRun(store, datastore, id, anyRun);
  // The embedded datastore can be looked into by one process only.
  const opening = datastore.queue === undefined ? undefined : datastore.open('look');
  const opened = await opening?.catch((error: Error) => {
    // What the state folder tells is better than nothing.
    if ('entry' in found) throw error;
    terminal.warn(`warning: only what the state folder knows: ${error.message}`);
    return undefined;
  });
  const cluster = opened && openCluster(opened);
  const look = async (): Promise<RunView> => {
    if ('entry' in found)
      return viewOfEntry(found.entry, cluster && (await liveRun(cluster, found.entry.id)));
    const record = await store.load(found.record.id);
    return viewOfRecord(store, record, cluster && (await liveRun(cluster, record.id)));
  };
  try {
    const view = flags.watch ? await follow(terminal, look) : await look();
    terminal.result(statusDocument(view), statusText(view));
    return flags.watch ? exitCodeOf(view, view.counts) : exitCodes.success;
  } finally {
    await opened?.close();
  }
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
