import { expect, test } from 'vitest';
import { ChosenEntries, type ListingOperation } from '../../../src/engine/list/chosen-entries.ts';
import type { ListedEntry } from '../../../src/engine/operation/list-definition.ts';
import { archive } from './listing.ts';

const entry = (id: string, note: string, by: string, unfit?: string): ListedEntry => ({
  id,
  fields: { call_id: id, ...(note !== '' && { note }) },
  columns: by === '' ? {} : { by },
  ...(unfit !== undefined && { unfit }),
});

async function* listed() {
  yield [entry('1', 'a', 'u-1'), entry('2', '', 'u-2')];
  yield [entry('3', 'c', 'u-1', 'is locked'), entry('4', '', '')];
}

async function chosenBy(...where: readonly string[]) {
  const entries = new ChosenEntries(archive as ListingOperation, where.length === 0 ? undefined : where);
  const rows: (readonly string[])[] = [];
  for await (const chunk of entries.rows(listed())) rows.push(...chunk);
  return { entries, rows };
}

test('rows have the fields first, and an empty text for what an entry lacks', async () => {
  const { entries, rows } = await chosenBy();
  expect(entries.columns).toEqual(['call_id', 'note', 'by']);
  expect(rows).toEqual([
    ['1', 'a', 'u-1'],
    ['2', '', 'u-2'],
    ['4', '', ''],
  ]);
  expect(entries).toMatchObject({ chosen: 3, choice: undefined, unfit: new Map([['is locked', 1]]) });
});

test('conditions choose entries as they choose rows; only those that they choose count as unfit', async () => {
  const { entries, rows } = await chosenBy('by!=u-1');
  expect(rows).toEqual([
    ['2', '', 'u-2'],
    ['4', '', ''],
  ]);
  expect(entries).toMatchObject({ chosen: 2, choice: { leftOut: 2 }, unfit: new Map() });
});

test('what can not be compared is left out, counted, and named by its entry', async () => {
  const { entries, rows } = await chosenBy('note>=2026-01-01');
  expect(rows).toEqual([]);
  expect(entries.choice).toMatchObject({ undecided: 2, leftOut: 4 });
  expect(entries.choice?.incomparable).toEqual([expect.stringContaining('first: call 1, "a"')]);
});

test('a condition on a column that the list does not have is refused', () => {
  expect(() => new ChosenEntries(archive as ListingOperation, ['who=u-1'])).toThrow(
    '--where "who=u-1": the list old-calls has no column "who"; it has "call_id", "note", "by"',
  );
});
