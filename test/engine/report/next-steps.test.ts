import { expect, test } from 'vitest';
import { noOutcomes, type Outcome } from '../../../src/domain/terms.ts';
import type { StepFacts } from '../../../src/engine/report/next-step.ts';
import { nextSteps } from '../../../src/engine/report/next-steps.ts';

/** `2 failed NOT_FOUND (1 unclear), 3 not_attempted CANCELLED` */
function rowsOf(told: string): Pick<StepFacts, 'outcomes' | 'unclear' | 'codes'> {
  const codes = [...told.matchAll(/(\d+) (\w+) (\w+)(?: \((\d+) unclear\))?/g)].map(
    ([, rows, outcome, code = '', unclear = 0]) => {
      return { outcome: outcome as Outcome, code, count: Number(rows), unclear: Number(unclear) };
    },
  );
  const outcomes = { ...noOutcomes() };
  for (const { outcome, count } of codes) outcomes[outcome] += count;
  return { codes, outcomes, unclear: codes.reduce((sum, { unclear }) => sum + unclear, 0) };
}

function stepsOf(told: string, facts: Partial<StepFacts> = {}) {
  const known = {
    manner: undefined,
    rowToSee: undefined,
    canCheck: true,
    correctFile: 'runs/r/correct.csv',
  };
  return nextSteps({ id: 'r', state: 'completed', phase: 'ended', ...known, ...rowsOf(told), ...facts });
}

const [check, resume] = ['cqbatch check r', 'cqbatch resume r'];
const rowToSee = { row: 1, failure: { code: 'FAILED_PRECONDITION', message: 'evaluation 1 is not deleted' } };
const look = 'Look at row 1: evaluation 1 is not deleted';
const transient = 'cqbatch retry r --transient';
const stopped = { phase: 'stopped' } as const;
const halted = { ...stopped, state: 'halted', manner: 'halted', rowToSee } as const;

type Step = readonly [title: string, command?: string];

const cases: readonly (readonly [what: string, told: string, Partial<StepFacts>, ...Step[]])[] = [
  ['nothing is left to do', '5 succeeded OK, 2 duplicate DUPLICATE', {}],
  ['all failures may pass', '2 failed UNAVAILABLE', {}, ['Retry 2 rows', transient]],
  [
    'some failures may pass, with more codes than a line can have',
    '1 failed UNAVAILABLE, 1 failed INTERNAL, 1 failed ABORTED, 1 failed UNKNOWN, 1 failed HTTP_520, 2 failed NOT_REPEATED',
    {},
    ['Retry 5 rows', transient],
    ['Decide about 2 rows'],
  ],
  [
    'a retry needs a change by a person',
    '1 failed PERMISSION_DENIED, 2 failed ANSWER_NOT_JSON',
    {},
    ['Decide about 3 rows'],
  ],
  [
    'rows are unclear',
    '3 failed INTERNAL (2 unclear)',
    {},
    ['Check 2 unclear rows in the service', check],
    ['Retry 3 rows', transient],
  ],
  [
    'rows of an operation without a list are unclear',
    '3 failed INTERNAL (2 unclear)',
    { canCheck: false },
    ['Check 2 unclear rows in the service'],
    ['Retry 3 rows', transient],
  ],
  [
    'rows are wrong',
    '2 failed NOT_FOUND, 1 invalid INVALID_ROW',
    { correctFile: 'my runs/r/correct.csv' },
    ['Correct 3 rows', 'cqbatch run "my runs/r/correct.csv"'],
  ],
  [
    'a guard halted the run',
    '20 failed FAILED_PRECONDITION, 6 failed INTERNAL (6 unclear), 80 not_attempted HALTED',
    halted,
    [look, 'cqbatch show r --row 1'],
    ['Check 6 unclear rows in the service', check],
    ['Continue with the 80 rows that are left', resume],
    ['Retry 6 rows', transient],
    ['Decide about 20 rows'],
  ],
  [
    'a guard halted a run with wrong rows',
    '20 failed NOT_FOUND, 80 not_attempted HALTED',
    halted,
    [look, 'cqbatch show r --row 1'],
    ['Continue with the 80 rows that are left', resume],
    ['Correct 20 rows', 'cqbatch run runs/r/correct.csv'],
  ],
  [
    'a person halted the run after its canary',
    '5 succeeded OK, 80 not_attempted HALTED',
    { ...stopped, state: 'halted', manner: 'halted' },
    ['Continue with the 80 rows that are left', resume],
  ],
  [
    'the API gave an answer that may have been a change',
    '5 failed HALTED (5 unclear), 80 not_attempted HALTED',
    { ...stopped, state: 'halted', manner: 'gave up', rowToSee: { row: 7 } },
    ['Look at row 7', 'cqbatch show r --row 7'],
    ['Check 5 unclear rows in the service', check],
    ['Continue with the 80 rows that are left', resume],
  ],
  [
    'the API gave such an answer to every row',
    '5 failed HALTED (5 unclear)',
    { ...stopped, state: 'halted', manner: 'gave up', rowToSee: { row: 5 } },
    ['Look at row 5', 'cqbatch show r --row 5'],
    ['Check 5 unclear rows in the service', check],
    ['Continue with the 5 rows without a result', resume],
  ],
  [
    'the process was killed after the last result',
    '5 succeeded OK',
    { ...stopped, state: 'interrupted' },
    ['Write the report', resume],
  ],
  [
    'the disk is full',
    '1 succeeded OK, 80 not_attempted HALTED',
    { ...stopped, state: 'failed', manner: 'gave up' },
    ['Continue with the 80 rows that are left', resume],
  ],
  [
    'a user stopped the run',
    '3 failed INTERRUPTED (3 unclear), 2 failed UNAVAILABLE, 4 not_attempted INTERRUPTED',
    { ...stopped, state: 'interrupted' },
    ['Continue with the 4 rows that are left', resume],
    ['Check 3 unclear rows in the service', check],
    ['Retry 2 rows', transient],
  ],
  [
    'the API has cancelled calls of a stopped run',
    '2 failed CANCELLED, 4 not_attempted INTERRUPTED',
    { ...stopped, state: 'interrupted' },
    ['Continue with the 4 rows that are left', resume],
    ['Retry 2 rows', transient],
  ],
  [
    'a user cancelled edits',
    '30 succeeded OK, 5 failed UNAVAILABLE, 3 failed CANCELLED, 467 not_attempted CANCELLED',
    { state: 'cancelled', undo: 'values' },
    ['467 rows were not called, as you wished'],
    ['If it was a mistake, undo 30 rows', 'cqbatch undo r'],
    ['Retry 5 rows', transient],
  ],
  [
    'a user cancelled the run while its last calls were tried again',
    '5 succeeded OK, 1 failed NOT_REPEATED, 3 failed CANCELLED',
    { state: 'cancelled' },
    ['3 rows were given up after a failed attempt, as you wished'],
    ['Decide about 1 row'],
  ],
  [
    'a user cancelled restores',
    '1 succeeded OK, 467 not_attempted CANCELLED',
    { state: 'cancelled', undo: 'list' },
    ['467 rows were not called, as you wished'],
    ['If it was a mistake, change 1 row back by hand', 'cqbatch undo r'],
  ],
  [
    'a retry has called what a user had cancelled',
    '1 succeeded OK, 467 not_attempted CANCELLED',
    { state: 'cancelled', isCured: true },
    ['Write one report of the run and its retries', 'cqbatch report r --with-retries'],
  ],
  [
    'a user cancelled edits without old values',
    '1 succeeded OK, 467 not_attempted CANCELLED',
    { state: 'cancelled' },
    ['467 rows were not called, as you wished'],
  ],
  [
    'a user paused the run',
    '',
    { phase: 'in progress', state: 'paused' },
    ['Continue the run', 'cqbatch unpause r'],
  ],
  [
    'the run is in progress',
    '3 failed INTERNAL (2 unclear), 1 failed NOT_FOUND',
    { phase: 'in progress', state: 'running' },
    ['Check 2 unclear rows in the service'],
    ['Retry 3 rows'],
    ['Correct 1 row'],
  ],
  [
    'the run retries another one',
    '1 failed INTERNAL',
    { isPartOfOthers: true },
    ['Retry 1 row', transient],
    ['Write one report of the run and its retries', 'cqbatch report r --with-retries'],
  ],
  [
    'all that failed has succeeded in a retry',
    '3 failed INTERNAL, 2 failed NOT_FOUND, 1 invalid INVALID_ROW',
    { isCured: true },
    ['Correct 1 row', 'cqbatch run runs/r/correct.csv'],
    ['Write one report of the run and its retries', 'cqbatch report r --with-retries'],
  ],
  [
    'a retry has stopped',
    '3 failed INTERNAL, 2 failed NOT_FOUND',
    { unfinishedRetry: { id: 's' } },
    ['Continue run s, which retries rows of this run', 'cqbatch resume s'],
    ['Correct 2 rows', 'cqbatch run runs/r/correct.csv'],
  ],
  [
    'a submitted run and its submitted retry have stopped',
    '3 failed INTERNAL, 1 failed NOT_FOUND, 2 not_attempted INTERRUPTED',
    { ...stopped, state: 'interrupted', submitted: true, unfinishedRetry: { id: 's', submitted: true } },
    ['Continue with the 2 rows that are left', 'cqbatch resume r --submit'],
    ['Continue run s, which retries rows of this run', 'cqbatch resume s --submit'],
    ['Correct 1 row', 'cqbatch submit runs/r/correct.csv'],
  ],
  [
    'a check found unclear rows done and others not done',
    '5 failed INTERNAL (3 unclear), 4 failed NOT_REPEATED (4 unclear), 1 failed NOT_FOUND (1 unclear)',
    { check: { run: 'first', notDone: 6 } },
    ['Retry 6 unclear rows', 'cqbatch retry first --unclear'],
    ['Retry 2 rows', transient],
    ['Correct 1 row', 'cqbatch run runs/r/correct.csv'],
  ],
  [
    'a check found all unclear rows done',
    '1 succeeded OK (1 unclear), 3 failed INTERNAL (3 unclear)',
    { check: { run: 'r', notDone: 0 } },
  ],
  [
    'a check looked at the unclear rows of a halted run',
    '6 failed INTERNAL (6 unclear), 80 not_attempted HALTED',
    { ...halted, check: { run: 'r', notDone: 1 } },
    [look, 'cqbatch show r --row 1'],
    ['Continue with the 80 rows that are left', resume],
    ['Retry 1 unclear row', 'cqbatch retry r --unclear'],
  ],
];

test.each(cases.map(([what, told, facts, ...steps]) => ({ what, told, facts, steps })))(
  'what to do next: $what',
  (each) => {
    const steps = stepsOf(each.told, each.facts);
    expect(steps.map(({ title, command }) => [title, ...(command === undefined ? [] : [command])])).toEqual(
      each.steps,
    );
  },
);

function textOf(title: RegExp, told: string, facts: Partial<StepFacts>): string {
  return stepsOf(told, facts).find((step) => title.test(step.title))?.text ?? '';
}

test('a step says what its command will do', () => {
  const told = '2 succeeded OK, 3 failed HALTED (3 unclear), 7 not_attempted HALTED, 2 pending PENDING';
  expect(textOf(/Continue/, told, halted)).toBe(
    'It calls the 12 rows without a result, 3 of them after a failed attempt, and no other. Failures count from now on. It first finds ' +
      'out what became of 2 pending rows, which may have been called. To end the run for good, type: cqbatch cancel r',
  );
  expect(textOf(/Continue/, told, { ...stopped, state: 'failed', manner: 'gave up' })).toMatch(
    /^First correct what stopped the run\./,
  );
  expect(textOf(/Continue/, told, { ...stopped, state: 'interrupted' })).not.toMatch(/correct|count|cancel/);
});

test('a row to look at is told with what the failures have in common', () => {
  const all = textOf(/Look/, '20 failed FAILED_PRECONDITION', { ...halted, mayBeDone: true });
  expect(all).toBe(
    'All 20 called rows failed, all with FAILED_PRECONDITION. If all rows are wrong, correct the manifest, --operation or the base URL, ' +
      'and start a new run. An earlier run may have done these rows: "cqbatch list" shows the runs, and --skip-done leaves out what one ' +
      'of them did.',
  );
  const some = textOf(/Look/, '86 succeeded OK, 3 failed A, 2 failed B, 2 failed C', halted);
  expect(some).toBe('7 of 93 called rows failed, most often with A (3 rows).');
  expect(textOf(/Look/, '1 failed A, 2 not_attempted HALTED', halted)).toMatch(
    /^The only called row failed, with A\./,
  );
});

test('a step that must wait says for what, and what to type then', () => {
  const told = '3 failed INTERNAL (2 unclear), 1 failed NOT_REPEATED, 1 failed NOT_FOUND';
  const inProgress = { phase: 'in progress', state: 'running' } as const;
  expect(textOf(/Check/, told, inProgress)).toMatch(/As soon as this run has stopped: cqbatch check r$/);
  expect(textOf(/Retry/, told, inProgress)).toMatch(
    /As soon as this run has stopped: cqbatch retry r --transient$/,
  );
  expect(textOf(/Correct/, told, inProgress)).toMatch(/^As soon as this run has stopped, .*correct\.csv/);
  expect(textOf(/Check/, told, { canCheck: false })).toMatch(/no command can check them\.$/);
});

test.each([{ phase: 'ended' }, stopped, { phase: 'in progress' }] as const)(
  'a retry takes as many rows as its command, and says the same everywhere: $phase',
  (facts) => {
    const told = '4 failed UNAVAILABLE, 2 failed PERMISSION_DENIED, 1 failed ANSWER_NOT_JSON';
    const step = stepsOf(told, facts).find(({ group }) => group === 'retry');
    expect(step).toMatchObject({ title: 'Retry 4 rows', rows: 4 });
    expect(step?.command ?? step?.text).toContain('cqbatch retry r --transient');
  },
);
