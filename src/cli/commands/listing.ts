import { repeat } from '../../base/async/repeat.ts';
import type { Defer } from '../../base/async/scope.ts';
import { temporaryFolder } from '../../base/disk/owned-folder.ts';
import { type EntryLists, listLimits, openEntryLists } from '../../engine/list/entry-lists.ts';
import type { ListReader, ListReaderOptions } from '../../engine/list/list-reader.ts';
import type { OperationList } from '../../engine/operation/list-definition.ts';
import type { RunOptions } from '../../engine/run/record/record.ts';
import type { CommandContext } from '../context.ts';
import { readingText } from '../render/export.ts';
import type { Terminal } from '../terminal.ts';
import { apiClient, tokenSource } from './api-client.ts';
import { runOptions } from './options.ts';

const drawEveryMs = 250;
/** How often progress is printed as a line where there is no terminal. */
const lineEveryMs = 5_000;

/** Opens what reads lists: with the token and the limits of the calls. */
export async function listReading(
  context: CommandContext,
  options: RunOptions,
  signal: AbortSignal,
  defer: Defer,
  ifMissing: string,
): Promise<ListReaderOptions> {
  const client = await apiClient({ ...options, concurrency: 1 }, tokenSource(context, options));
  defer(client.close);
  return { ...listLimits(options), client, signal, ifMissing };
}

/** Opens lists whose reading is shown on the screen: which list, and how far. */
export async function entryLists(
  context: CommandContext,
  options: RunOptions,
  signal: AbortSignal,
  defer: Defer,
): Promise<EntryLists> {
  const ifMissing = 'Without --compare, a run works as before.';
  return openListsOf(context, await listReading(context, options, signal, defer, ifMissing), defer);
}

/** Opens lists with an existing client, and shows their reading, as `entryLists` does with a client of its own. */
export async function openListsOf(
  { terminal, store }: CommandContext,
  reading: ListReaderOptions,
  defer: Defer,
): Promise<EntryLists> {
  const folder = await temporaryFolder(store.stateDir, 'lists', defer);
  const onReading = (list: OperationList, reader: ListReader) =>
    showProgress(terminal, () => readingText(list, reader));
  return openEntryLists({ ...reading, folder, onReading }, defer);
}

/** The lists to compare rows with. Undefined unless rows are compared. */
export async function listsToCompare(
  context: CommandContext,
  signal: AbortSignal,
  defer: Defer,
): Promise<EntryLists | undefined> {
  return context.settings.compare ? entryLists(context, runOptions(context), signal, defer) : undefined;
}

/** Shows a changing text until the returned function is called. */
export function showProgress(terminal: Terminal, text: () => string): () => Promise<void> {
  const show = terminal.live ? terminal.draw : terminal.say;
  const showing = repeat(() => show(text()), { everyMs: terminal.live ? drawEveryMs : lineEveryMs });
  return async () => {
    await showing.stop();
    terminal.draw('');
  };
}
