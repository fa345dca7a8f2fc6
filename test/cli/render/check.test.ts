import { expect, test } from 'vitest';
import { checkReportText, checkWarnings, nextCommands } from '../../../src/cli/render/check.ts';
import { withoutMarks } from '../../../src/cli/render/style.ts';
import type { RunCheck } from '../../../src/engine/report/check-file.ts';
import type { RunRecord } from '../../../src/engine/run/record/record.ts';

const check: RunCheck = {
  check_version: 1,
  checked_at: '2026-11-16T10:00:00.000Z',
  runs: ['one'],
  counts: { as_wanted: 57, not_as_wanted: 6, gone: 1, overtaken: 0 },
  succeeded_not_as_wanted: 0,
  unclear: { rows: 0, done: 0, not_done: 0, unfinished: 0 },
  first: [
    { row: 7, entry: 'soundboard 41', check: 'not_as_wanted', there: 'title is "Old"' },
    { row: 1_200, entry: 'soundboard 42', check: 'gone', there: 'does not exist' },
  ],
};

/** What is told of a run in this state. */
function told(
  changes: Partial<RunCheck>,
  state: RunRecord['state'] = 'completed',
  next?: string,
): readonly string[] {
  const first = { id: 'one', manifest: { name: 'rows.csv' }, state, states: [{ state, at: '', next }] };
  const run = { firstRun: first as unknown as RunRecord, retries: [] };
  const checked = { check: { ...check, ...changes }, path: 'one/check.csv', lists: [] };
  const text = checkReportText(run, checked, nextCommands(run, checked.check));
  return withoutMarks(text).split('\n');
}

test('counts come first, then some of the rows that differ, then the file', () => {
  const [head, ...lines] = told({});
  expect(head).toMatch(/^Run one of rows.csv, checked at .*: 57 as wanted, 6 not as wanted, 1 gone\.$/);
  expect(lines).toEqual([
    '  row 7, soundboard 41: title is "Old"',
    '  row 1,200, soundboard 42: gone',
    '  and 5 more',
    'Wrote one/check.csv. The entries may have changed since they were read.',
  ]);
});

test.each([
  {
    unclear: { rows: 60, done: 57, not_done: 3, unfinished: 0 },
    text: '57 of 60 unclear rows were done, 3 were not: cqbatch retry one --unclear calls these 3.',
  },
  {
    unclear: { rows: 2, done: 1, not_done: 1, unfinished: 0 },
    text: '1 of 2 unclear rows was done, 1 was not: cqbatch retry one --unclear calls this one.',
  },
  {
    unclear: { rows: 1, done: 1, not_done: 0, unfinished: 0 },
    text: '1 of 1 unclear row was done, 0 were not.',
  },
  {
    unclear: { rows: 4, done: 1, not_done: 1, unfinished: 0 },
    text: '1 of 4 unclear rows was done, 1 was not, 2 were overtaken: cqbatch retry one --unclear calls this one.',
  },
  {
    state: 'halted' as const,
    next: 'cqbatch show one --row 1',
    unclear: { rows: 1, done: 0, not_done: 1, unfinished: 1 },
    text: '0 of 1 unclear row were done, 1 was not: cqbatch resume one calls this one.',
  },
  {
    state: 'interrupted' as const,
    unclear: { rows: 5, done: 1, not_done: 4, unfinished: 4 },
    text: '1 of 5 unclear rows was done, 4 were not: cqbatch resume one calls these 4.',
  },
  {
    state: 'interrupted' as const,
    unclear: { rows: 5, done: 1, not_done: 4, unfinished: 1 },
    text: '1 of 5 unclear rows was done, 4 were not: cqbatch retry one --unclear calls 3 of these; cqbatch resume one calls 1 of these.',
  },
])('of unclear rows, $unclear', ({ unclear, text, state, next }) => {
  expect(told({ unclear, first: [] }, state, next)).toContain(text);
});

test('a list that changed while it was read is warned of', () => {
  const list = { name: 'old-calls' } as Parameters<typeof checkWarnings>[0][number]['list'];
  const counts = { listed: 3, repeats: 0, unreadable: 0 };
  expect(checkWarnings([{ list, counts }])).toEqual([]);
  expect(checkWarnings([{ list, counts: { ...counts, repeats: 2 } }])).toEqual([
    'the list of old calls has changed while it was read (an entry was listed again 2 times), so entries may be missing: check again when it does not change',
  ]);
});
