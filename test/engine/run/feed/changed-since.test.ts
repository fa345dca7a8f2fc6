import { expect, test } from 'vitest';
import { updateSoundboard } from '../../../../jobs/update-soundboard.ts';
import { noHistory, perhapsCalled } from '../../../../src/domain/attempts.ts';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { JournalState } from '../../../../src/engine/journal/state.ts';
import type { CallableRow } from '../../../../src/engine/rows/row.ts';
import { resultsOfChanged } from '../../../../src/engine/run/feed/changed-since.ts';
import { resultOf } from '../../journal/arbitraries.ts';
import { listsOf } from '../../list/listed-in-memory.ts';
import { rowsInMemory } from '../../rows/rows-in-memory.ts';

/** A row that renames an entry, which was called Old. */
const renaming = (row: number): CallableRow => ({
  kind: 'callable',
  row,
  line: row,
  operation: updateSoundboard,
  subject: String(row),
  values: { soundboard_id: String(row), title: 'New' },
  old: { title: 'Old' },
  compared: true,
  requestDigest: 'of the request',
});

const { compared: _, ...blind } = renaming(6);

test('rows whose entries have changed since fail without a call, unless they are done, held, or were not compared', async () => {
  const titles = ['Old', 'Theirs', 'Theirs', 'Theirs', 'New', 'Theirs', 'Theirs'];
  const entries = titles.map((title, at) => [String(at + 1), { fields: { title } }] as const);
  const lists = await listsOf([[updateSoundboard, Object.fromEntries(entries)]]);
  const rows = [1, 2, 3, 4, 5].map(renaming);
  const journal = new JournalState();
  journal.apply({ type: 'row', result: resultOf(3) }, 3);
  journal.apply({ type: 'open', row: 7, history: perhapsCalled(noHistory) }, 7);
  const results: RowResult[] = [];
  const file = rowsInMemory([...rows, blind, renaming(7)]);
  const now = { operations: [updateSoundboard], lists };
  for await (const part of resultsOfChanged(file, journal, new Set([4]), now)) results.push(...part);
  const changed = { outcome: 'failed', code: 'CHANGED_SINCE', operation: 'update-soundboard' };
  expect(results).toMatchObject([
    {
      ...changed,
      row: 2,
      attempts: 0,
      unclear: false,
      message: 'soundboard 2 has changed since it was compared: title was "Old", and is "Theirs" now',
    },
    { ...changed, row: 7, attempts: 1, unclear: true },
  ]);
  expect(results).toHaveLength(2);
});
