import { temporaryFolder } from '../base/disk/owned-folder.ts';
import type { ApiClient } from '../engine/api/client.ts';
import { listLimits, type OpenEntryLists, openEntryLists } from '../engine/list/entry-lists.ts';
import type { RunStore } from '../engine/run/record/store.ts';
import { callOptions } from '../settings/run-options.ts';
import type { Settings } from '../settings/settings.ts';

/** Reads lists with the client of a batch. */
export function listsWith(
  client: ApiClient,
  { stateDir }: Pick<RunStore, 'stateDir'>,
  settings: Settings,
): OpenEntryLists {
  return async (signal, defer) => {
    const folder = await temporaryFolder(stateDir, 'lists', defer);
    const limits = listLimits(callOptions(settings));
    const ifMissing = 'Without a comparison, a run works as before.';
    return openEntryLists({ ...limits, client, folder, signal, ifMissing }, defer);
  };
}

/** Reads lists before a plan. Undefined unless its rows are compared. */
export function listsToRead(
  ...[client, store, settings]: Parameters<typeof listsWith>
): OpenEntryLists | undefined {
  return settings.compare ? listsWith(client, store, settings) : undefined;
}
