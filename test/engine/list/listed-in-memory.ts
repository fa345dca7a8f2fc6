import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { EntryLists } from '../../../src/engine/list/entry-lists.ts';
import { type KnownEntry, type ListCounts, ListedEntries } from '../../../src/engine/list/listed-entries.ts';
import type { ListedEntry } from '../../../src/engine/operation/list-definition.ts';
import type { Operation } from '../../../src/engine/operation/operation.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** The lists of a service that has these entries, by operation and identifier. */
export async function listsOf(
  listed: readonly (readonly [operation: Operation, entries: Readonly<Record<string, KnownEntry>>])[],
  counts: Partial<ListCounts> = {},
): Promise<EntryLists> {
  const folder = await temporaryFolder();
  const all = await Promise.all(
    listed.map(async ([{ name, list }, entries]) => {
      if (list === undefined) throw new Error(`${name} has no list`);
      const rows = Object.entries(entries).map(([id, entry]): ListedEntry => ({ id, columns: {}, ...entry }));
      const chunks = async function* () {
        yield rows;
      };
      const reader = { entries: chunks, listed: rows.length, repeats: 0, unreadable: 0, ...counts };
      const known = await ListedEntries.read(list, reader, join(folder, list.name));
      onTestFinished(() => known.close());
      return { name, known };
    }),
  );
  return {
    all: all.map(({ known }) => known),
    async of({ name }) {
      const found = all.find((each) => each.name === name);
      if (found === undefined) throw new Error(`no list of ${name}`);
      return found.known;
    },
  };
}
