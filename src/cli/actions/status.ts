import { setTimeout as sleep } from 'node:timers/promises';
import { type CommonFlags, loadSettings } from '../config/load.ts';
import type { RawSettings } from '../config/settings.ts';
import { chooseDatastore } from '../datastore.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type RunView, statusDocument, statusLine, statusText } from '../render/status.ts';
import { openState } from '../state-folder.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { findRun } from './find-run.ts';
import { openLiveView } from './live-view.ts';
import { viewOfEntry, viewOfRecord } from './run-view.ts';

export interface StatusFlags extends CommonFlags, RawSettings {
  readonly watch?: boolean;
}

const lookMs = 1_000;
const printEveryLooks = 5;

/** `cqbatch status`: where a run stands, from its folder and from the shared datastore. */
export async function status(id: string | undefined, flags: StatusFlags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const store = await openState(terminal, flags);
  const datastore = await chooseDatastore(terminal, flags, await loadSettings(flags));
  const found = await findRun(store, datastore, id);
  const live = await openLiveView(datastore).catch((error: Error) => {
    // What the state folder tells is better than nothing.
    if ('entry' in found) throw error;
    terminal.warn(`warning: only what the state folder knows: ${error.message}`);
    return undefined;
  });
  const look = async (): Promise<RunView> => {
    if ('entry' in found) return viewOfEntry(found.entry, await live?.of(found.entry.id));
    const record = await store.load(found.record.id);
    return viewOfRecord(store, record, await live?.of(record.id));
  };
  try {
    const view = flags.watch ? await follow(terminal, look) : await look();
    terminal.result(statusDocument(view), statusText(view));
    return flags.watch ? exitCodeOfView(view) : exitCodes.success;
  } finally {
    await live?.close();
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

/** What `cqbatch run` would have said of the same end. */
function exitCodeOfView({ state, counts }: RunView): ExitCode {
  if (state === 'completed')
    return counts.failed + counts.invalid > 0 ? exitCodes.rowsFailed : exitCodes.success;
  if (state === 'cancelled' || state === 'halted') return exitCodes.halted;
  return state === 'interrupted' ? exitCodes.interrupted : exitCodes.fatal;
}
