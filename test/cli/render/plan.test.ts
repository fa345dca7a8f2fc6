import { describe, expect, test } from 'vitest';
import { problemText } from '../../../src/cli/render/plan.ts';
import type { ConflictRule, KnownFates } from '../../../src/domain/terms.ts';
import { ProblemGroups } from '../../../src/engine/rows/problem.ts';
import { type Permits, refusals, verdictText } from '../../../src/engine/run/plan/readiness.ts';
import type { Target } from '../../../src/engine/run/record/targets.ts';

const manifest = { name: 'a.csv' };
const planned = {
  manifest,
  allowPartial: false,
  allowEmpty: false,
  target: undefined,
  baseUrl: 'https://api.example.com',
};
const otherCounts = {
  doneBefore: 0,
  doneIn: new Map(),
  choice: undefined,
  roundedIds: [],
  perOperation: {},
};

test.each<[rows: number, callable: number, invalid: number, skipInvalid: boolean, verdict: string]>([
  [12_000, 12_000, 0, false, 'Ready: 12,000 calls.'],
  [1, 1, 0, true, 'Ready: 1 call.'],
  [3, 2, 1, true, 'Ready: 2 calls, 1 invalid row left out.'],
  [
    ...([4000, 0, 4000, true] as const),
    'Not ready: a.csv has nothing to call. 4,000 rows are invalid. If that is right, pass --allow-empty.',
  ],
  [
    ...([0, 0, 0, false] as const),
    'Not ready: a.csv has nothing to call. It has no rows. If that is right, pass --allow-empty.',
  ],
  [41, 1, 40, false, 'Not ready: 40 rows of a.csv are invalid; fix them or pass --skip-invalid.'],
  [2, 1, 1, false, 'Not ready: 1 row of a.csv is invalid; fix it or pass --skip-invalid.'],
  [2, 0, 2, false, 'Not ready: all 2 rows of a.csv are invalid; fix them.'],
  [1, 0, 1, false, 'Not ready: 1 row of a.csv is invalid; fix it.'],
])('of %d rows %d callable, %d invalid, left out: %s', (rows, callable, invalid, skipInvalid, verdict) => {
  const scan = { ...otherCounts, rows, callable, invalid, conflicts: 0, partial: 0 };
  expect(verdictText({ ...planned, scan, skipInvalid, onConflict: 'refuse' })).toBe(verdict);
});

const remedy =
  'different values for the same entry. Remove the wrong rows, or pass --on-conflict last (only the last row of each entry is called) or ' +
  "--on-conflict in-order (all are called, one after the other, in the manifest's order).";

test.each<[invalid: number, conflicts: number, onConflict: ConflictRule, verdict: string]>([
  [0, 1, 'refuse', `Not ready: 1 row of a.csv conflicts with an earlier row: ${remedy}`],
  [1, 12, 'refuse', `Not ready: 12 rows of a.csv conflict with earlier rows: ${remedy}`],
  [0, 12, 'in-order', 'Ready: 19 calls.'],
  [1, 12, 'in-order', 'Ready: 19 calls, 1 invalid row left out.'],
])('of %d invalid and %d conflicting rows, by the rule %s: %s', (invalid, conflicts, onConflict, verdict) => {
  const scan = { ...otherCounts, rows: 20, callable: 19, invalid, conflicts, partial: 0 };
  expect(verdictText({ ...planned, scan, skipInvalid: true, onConflict })).toBe(verdict);
});

test('of rows that were all done before, or of none, is ready when the user says so', () => {
  const doneIn = new Map([['monday', 2]]);
  const scan = {
    ...otherCounts,
    rows: 2,
    callable: 0,
    invalid: 0,
    conflicts: 0,
    partial: 0,
    doneBefore: 2,
    doneIn,
  };
  const plan = { ...planned, scan, skipInvalid: false, onConflict: 'refuse' as const };
  expect(verdictText(plan)).toBe(
    'Not ready: a.csv has nothing to call. 2 rows were done before in monday. If that is right, pass --allow-empty.',
  );
  expect(verdictText({ ...plan, allowEmpty: true })).toBe('Ready: 0 calls.');
});

test('invalid and conflicting rows are reported in one verdict', () => {
  const scan = { ...otherCounts, rows: 20, callable: 19, invalid: 1, conflicts: 1, partial: 0 };
  const invalid = 'Not ready: 1 row of a.csv is invalid; fix it or pass --skip-invalid.';
  expect(verdictText({ ...planned, scan, skipInvalid: false, onConflict: 'refuse' })).toBe(
    `${invalid} Not ready: 1 row of a.csv conflicts with an earlier row: ${remedy}`,
  );
});

/** What the state folder knows of an API. */
const target = (fates: KnownFates, allowsPartial = false) => ({
  isNew: false,
  allowsPartial,
  updates: { edit: fates, other: { leftOut: 'reset', cleared: 'kept' } as const },
});

const asksFor = ['PARTIAL_ROWS', /^2 rows leave fields out\. .*with --allow-partial --canary 1 /] as const;
const resets = [
  'PARTIAL_ROWS',
  /^2 rows leave fields out, and edit at .* resets .*pass --left-out kept\.$/,
] as const;
const clearsNothing = [
  'CLEARED_ROWS',
  /^rows clear note, and edit at .* keeps .*pass --cleared empty\.$/,
] as const;

describe('rows may leave fields out or clear them, depending on what is known of the API', () => {
  test.each<
    [
      title: string,
      seen: Target | undefined,
      said: Permits,
      expected: readonly (readonly [string, RegExp | string])[],
    ]
  >([
    ['no user has seen it', target({}), {}, [asksFor]],
    ['the API is not named', undefined, {}, [asksFor]],
    ['the user allows it', undefined, { allowPartial: true }, []],
    ['an earlier run was let through there', target({}, true), {}, []],
    ['kept, seen', target({ leftOut: 'kept' }), {}, []],
    ['kept, said', undefined, { leftOut: 'kept' }, []],
    ['reset, seen', target({ leftOut: 'reset' }, true), { allowPartial: true }, [resets]],
    ['reset, said', target({ leftOut: 'kept' }), { leftOut: 'reset' }, [resets]],
    ['reset by a wrong answer', target({ leftOut: 'reset' }), { leftOut: 'kept' }, []],
    ['cleared, seen', target({ leftOut: 'kept', cleared: 'empty' }), {}, []],
    ['not cleared, seen', target({ leftOut: 'kept', cleared: 'kept' }), {}, [clearsNothing]],
    ['not cleared, said', undefined, { allowPartial: true, cleared: 'kept' }, [clearsNothing]],
    ['not cleared by a wrong answer', target({ leftOut: 'kept', cleared: 'kept' }), { cleared: 'empty' }, []],
    ['not cleared, and no user has seen the rest', target({ cleared: 'kept' }), {}, [asksFor, clearsNothing]],
    ['cleared for certain, because it resets', target({ leftOut: 'reset', cleared: 'kept' }), {}, [resets]],
  ])('%s', (_title, target, said, expected) => {
    const fields = { note: { given: 1, cleared: 1, absent: 1 }, title: { given: 1, cleared: 0, absent: 1 } };
    const perOperation = { edit: { partial: 2, fields }, restore: { partial: 0, fields: {} } };
    const scan = { ...otherCounts, perOperation, rows: 2, callable: 2, invalid: 0, conflicts: 0, partial: 2 };
    const plan = {
      ...planned,
      allowPartial: undefined,
      ...said,
      scan,
      skipInvalid: false,
      onConflict: 'refuse' as const,
      target,
    };
    expect(refusals(plan)).toEqual(
      expected.map(([code, text]) => ({ code, text: expect.stringMatching(text) })),
    );
    expect(verdictText(plan)).toMatch(expected.length === 0 ? /^Ready: 2 calls\.$/ : /^Not ready: /);
  });
});

test('shows the first conflicting rows with both lines', () => {
  const firstConflicts = Array.from({ length: 20 }, (_, n) => `a.csv:${n}: changes it otherwise`);
  const problems = { groups: [], first: [], count: 0, firstConflicts, file: 'p.txt' };
  const scan = { rows: 60, callable: 60, invalid: 0, conflicts: 25 };
  expect(problemText({ manifest, scan, problems }).split('\n')).toEqual([
    ...firstConflicts.slice(0, 5),
    '… and 20 more conflicting rows',
    'All problems, row by row: p.txt',
  ]);
});

function textOf(add: (groups: ProblemGroups) => void, count: number): readonly string[] {
  const groups = new ProblemGroups();
  add(groups);
  const problems = {
    groups: groups.groups,
    first: [],
    count,
    firstConflicts: [],
    file: 'p.txt',
  };
  const scan = { rows: count, callable: 0, invalid: count, conflicts: 0 };
  return problemText({ manifest, scan, problems }).split('\n');
}

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
    '4 rows: ID: is bad (lines 2-4, 6; first: v1)',
    '2 rows: ID: is worse (cells B2-B3)',
    '5 rows: is cut off (lines 2, 4, 6, …)',
    'a.csv:10: Nr\\u001b: is odd (x)',
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
