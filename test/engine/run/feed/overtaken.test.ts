import { expect, test } from 'vitest';
import { noHistory, perhapsCalled } from '../../../../src/domain/attempts.ts';
import { JournalState } from '../../../../src/engine/journal/state.ts';
import { resultsOfOvertaken } from '../../../../src/engine/run/feed/overtaken.ts';
import { resultOf } from '../../journal/arbitraries.ts';
import { callable } from '../../rows/decided-rows.ts';
import { rowsInMemory } from '../../rows/rows-in-memory.ts';

/** Rows with these subjects, of which some have results and some are in the datastore. */
async function overtaken(
  subjects: string,
  { finished = [], held = [] }: { readonly finished?: number[]; readonly held?: number[] },
  journal = new JournalState(),
) {
  const file = rowsInMemory(
    [...subjects].map((subject, index) => ({ ...callable, row: index + 1, subject })),
  );
  for (const row of finished) journal.apply({ type: 'row', result: resultOf(row) }, row);
  return resultsOfOvertaken(file, journal, new Set(held));
}

test.each<[what: string, subjects: string, where: Parameters<typeof overtaken>[1], rows: number[]]>([
  ['a new run', 'aab', {}, []],
  ['a run that was stopped', 'aabb', { finished: [1, 3] }, []],
  ['a result that is lost', 'abab', { finished: [2, 3] }, [1]],
  ['a later row in the datastore', 'abab', { finished: [2], held: [3] }, [1]],
  ['an earlier row in the datastore', 'aab', { finished: [3], held: [1] }, []],
  ['all results but the last', 'aaaab', { finished: [4] }, [1, 2, 3]],
  ['a row between two with results', 'aaab', { finished: [1, 3] }, [2]],
])('rows that a later row has overtaken: %s', async (_, subjects, where, rows) => {
  expect((await overtaken(subjects, where)).map(({ row }) => row)).toEqual(rows);
});

test('a row that was overtaken fails without a call, and is unclear', async () => {
  const journal = new JournalState();
  const history = perhapsCalled(perhapsCalled(noHistory));
  journal.apply({ type: 'open', row: 2, history }, 0);
  const results = await overtaken('aaa', { finished: [3] }, journal);
  expect(results).toMatchObject([
    { row: 1, outcome: 'failed', code: 'RESULT_LOST', attempts: 1, unclear: true },
    { row: 2, outcome: 'failed', code: 'RESULT_LOST', attempts: 2, unclear: true },
  ]);
});
