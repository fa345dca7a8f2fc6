import { expect, test } from 'vitest';
import { problemText } from '../../../src/cli/render/plan.ts';
import { ProblemGroups } from '../../../src/engine/rows/problem.ts';
import { type ReadyRows, unreadyText } from '../../../src/engine/run/plan/readiness.ts';
import { scenes } from './scenes.ts';

const manifest = { name: 'a.csv' };
const counts: ReadyRows['scan'] = {
  rows: 20,
  callable: 19,
  invalid: 0,
  conflicts: 0,
  partial: 0,
  doneBefore: 0,
  asWanted: 0,
  doneIn: new Map(),
  choice: undefined,
  roundedIds: [],
};

function ready(scan: Partial<ReadyRows['scan']>, options: Partial<Omit<ReadyRows, 'scan'>> = {}): ReadyRows {
  return {
    manifest,
    scan: { ...counts, ...scan },
    skipInvalid: false,
    allowPartial: false,
    allowEmpty: false,
    onConflict: 'refuse',
    baseUrl: 'https://api.example.com',
    isNewTarget: false,
    ...options,
  };
}

const skipInvalid = true;
const onConflict = 'in-order';
const doneBefore = { rows: 2, callable: 0, doneBefore: 2, doneIn: new Map([['monday', 2]]) };

test("says why a run can't start, and what to do", async () => {
  const cases: readonly (readonly [what: string, planned: ReadyRows])[] = [
    ['only invalid rows', ready({ rows: 4000, callable: 0, invalid: 4000 }, { skipInvalid })],
    ['no rows', ready({ rows: 0, callable: 0 })],
    ['invalid rows', ready({ rows: 41, callable: 1, invalid: 40 })],
    ['an invalid row', ready({ rows: 2, callable: 1, invalid: 1 })],
    ['one row, invalid', ready({ rows: 1, callable: 0, invalid: 1 })],
    ['a conflict', ready({ conflicts: 1 })],
    ['conflicts', ready({ conflicts: 12 })],
    ['an invalid row, and a conflict', ready({ invalid: 1, conflicts: 1 })],
    ['a row that leaves fields out', ready({ partial: 1 })],
    ['rows that leave fields out', ready({ partial: 12 })],
    ['rows that were all done before', ready(doneBefore)],
  ];
  await expect(scenes(cases, unreadyText)).toMatchFileSnapshot('../screens/verdict.txt');
});

test.each([
  ['all rows are called', ready({ rows: 12_000, callable: 12_000 })],
  ['an invalid row is left out', ready({ rows: 3, callable: 2, invalid: 1 }, { skipInvalid })],
  ['conflicts are called in order', ready({ conflicts: 12 }, { onConflict })],
  ['rows may leave fields out', ready({ partial: 12 }, { allowPartial: true })],
  ['an empty plan is allowed', ready(doneBefore, { allowEmpty: true })],
])('is ready when %s', (_when, planned) => {
  expect(unreadyText(planned)).toBe('');
});

function textOf(add: (groups: ProblemGroups) => void, count: number, firstConflicts: readonly string[] = []) {
  const groups = new ProblemGroups();
  add(groups);
  const problems = { groups: groups.groups, firstProblems: [], count, firstConflicts, file: 'p.txt' };
  const scan = { rows: 60, callable: 0, invalid: count, conflicts: firstConflicts.length };
  return problemText({ manifest, scan, problems }).split('\n');
}

test('shows the first conflicting rows with both', () => {
  const conflicts = Array.from({ length: 25 }, (_, n) => `a.csv:${n}: changes it otherwise`);
  expect(textOf(() => {}, 0, conflicts)).toEqual([
    ...conflicts.slice(0, 5),
    '… and 20 more conflicting rows',
    'All problems, row by row: p.txt',
  ]);
});

test('groups equal problems with their lines or cells, and shows a single problem as in the file', () => {
  const lines = textOf((groups) => {
    for (const row of [1, 2, 3, 5])
      groups.add({ row, line: row + 1 }, { column: 'ID', problem: 'is bad', value: `v${row}` });
    groups.add({ row: 1, line: 2 }, { column: 'ID', problem: 'is worse', letters: 'B' });
    groups.add({ row: 2, line: 3 }, { column: 'ID', problem: 'is worse', letters: 'B' });
    for (const row of [1, 3, 5, 7, 9]) groups.add({ row, line: row + 1 }, { problem: 'is cut off' });
    groups.add({ row: 9, line: 10 }, { column: 'Nr\u001b', problem: 'is odd', value: 'x' });
  }, 12);
  expect(lines).toEqual([
    '4 rows: ID: is bad (rows 1-3, 5; lines 2-4, 6; first: v1)',
    '2 rows: ID: is worse (rows 1-2; cells B2-B3)',
    '5 rows: is cut off (rows 1, 3, 5, …; lines 2, 4, 6, …)',
    'a.csv:10: row 9, Nr\\u001b: is odd (x)',
    'All problems, row by row: p.txt',
  ]);
});

test('shows the first of many kinds of problems, and the number of the others', () => {
  const lines = textOf((groups) => {
    for (let row = 1; row <= 30; row++) groups.add({ row, line: row }, { problem: `problem ${row}` });
  }, 30);
  expect(lines).toHaveLength(14);
  expect(lines[12]).toBe('… and 18 more');
});
