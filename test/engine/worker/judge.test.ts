import { describe, expect, test } from 'vitest';
import type { AttemptHistory } from '../../../src/domain/row-result.ts';
import type { ApiFailure } from '../../../src/engine/api/failure.ts';
import type { Operation } from '../../../src/engine/operation/operation.ts';
import type { RowCall } from '../../../src/engine/queue/payload.ts';
import { asRefusal, type JudgedAttempt, judge, returnUncharged } from '../../../src/engine/worker/judge.ts';
import { refusalToRepeat } from '../../../src/engine/worker/uncalled-rows.ts';
import { answered, failing, tooMany } from './answers.ts';
import { claimed, task } from './claimed.ts';

const operation = {
  repeatable: true,
  check: (_subject: string, body: unknown) =>
    body === 'right'
      ? { ok: true, columns: { state: 'DONE' } }
      : { ok: false, code: 'ANSWER_ID_MISMATCH', message: 'another id' },
  name: 'restore-evaluation',
  meansAlreadyApplied: ({ message }: { message: string }) => message === 'not deleted',
  meansDone: ({ message }: { message: string }) => message === 'gone',
} as unknown as Operation;

const right = answered({ body: 'right', durationMs: 12.4 });
const wrong = answered({ body: 'wrong' });

function attempt(answer: JudgedAttempt['answer'], changes: Partial<JudgedAttempt> = {}): JudgedAttempt {
  return {
    task,
    operation,
    claim: claimed(),
    answer,
    startedAt: new Date('2026-01-01T00:00:01Z'),
    finishedAt: new Date('2026-01-01T00:00:02Z'),
    isOperationProven: true,
    isAddressProven: true,
    otherCalls: { accepted: 0, refused: 0, failed: 0 },
    isGoverned: false,
    random: 1,
    ...changes,
  };
}

const withHistory = (history: Partial<AttemptHistory>): RowCall => ({
  ...task,
  history: { attempts: 1, unprocessed: 0, unclear: false, ...history },
});

describe('where 503s depend on the rate, one is none because of', () => {
  const of503 = failing({ status: 503, unclear: true });
  test.each<[string, JudgedAttempt['answer'], RowCall?, Pick<Operation, 'repeatable'>?]>([
    ['another failure', failing({ code: 'INTERNAL', status: 500, unclear: true })],
    ['a permanent failure', failing({ class: 'permanent', code: 'NOT_FOUND', status: 503 })],
    ['a success', right],
    ['five refusals of the row before', of503, withHistory({ attempts: 5, unprocessed: 5 })],
    ['a row that must not be repeated', of503, task, { repeatable: false }],
  ])('%s', (_title, answer, row = task, of = operation) => {
    expect(asRefusal(answer, row, of)).toBe(answer);
  });
});

describe('an answer', () => {
  test('that fits the request is a success with its columns', () => {
    expect(judge(attempt(right))).toEqual({
      kind: 'finished',
      result: {
        row: 7,
        operation: 'restore-evaluation',
        outcome: 'succeeded',
        code: 'OK',
        message: '',
        httpStatus: 200,
        attempts: 1,
        unclear: false,
        durationMs: 12,
        columns: { state: 'DONE' },
        startedAt: '2026-01-01T00:00:01.000Z',
        finishedAt: '2026-01-01T00:00:02.000Z',
      },
    });
  });

  test('that fits another request is a failure with its own code, and unclear', () => {
    expect(judge(attempt(wrong))).toMatchObject({
      result: { outcome: 'failed', code: 'ANSWER_ID_MISMATCH', httpStatus: 200, unclear: true },
    });
  });

  test('keeps what earlier attempts did', () => {
    const earlier = withHistory({ attempts: 3, unclear: true, startedAt: '2025-12-31T00:00:00Z' });
    expect(judge(attempt(right, { task: earlier }))).toMatchObject({
      result: { attempts: 4, unclear: true, startedAt: '2025-12-31T00:00:00Z' },
    });
  });
});

describe('a permanent refusal', () => {
  const failed = { outcome: 'failed', code: 'NOT_FOUND' };
  const applied = { outcome: 'succeeded', code: 'ALREADY_APPLIED' };
  const lost = 'probably done by an earlier attempt whose answer was lost';

  test.each([
    ['is a failure', 'why', true, { ...failed, message: 'why' }],
    ['that means "done already", after an unclear attempt, is a success', 'not deleted', true, applied],
    ['that means "done already" is a failure otherwise', 'not deleted', false, failed],
    ['"done" is a success', 'gone', false, { ...applied, message: 'was already done (the API: "gone")' }],
    [
      '"done" is a success after an unclear attempt',
      'gone',
      true,
      { ...applied, message: `${lost} (the API: "gone")` },
    ],
  ])('%s', (_title, message, unclear, expected) => {
    const answer = failing({ class: 'permanent', code: 'NOT_FOUND', status: 404, message });
    expect(judge(attempt(answer, { task: withHistory({ unclear }) }))).toMatchObject({
      kind: 'finished',
      result: { httpStatus: 404, attempts: 2, unclear, ...expected },
    });
  });

  test.each([
    ['"done"', 'gone', false],
    ['"done already", after an unclear attempt,', 'not deleted', true],
  ])('that means %s is premature until a row has succeeded at this address', (_title, message, unclear) => {
    const answer = failing({ class: 'permanent', code: 'NOT_FOUND', status: 404, message });
    const early = attempt(answer, { isAddressProven: false, task: withHistory({ unclear, unprocessed: 1 }) });
    expect(judge(early)).toMatchObject({
      kind: 'premature',
      failure: {
        message: expect.stringMatching(/no row of restore-evaluation has ever succeeded at this address/),
      },
      history: { attempts: 2, unprocessed: 2, unclear },
    });
  });

  test('without JSON means "done" only once a row has succeeded: it may come from another address', () => {
    const answer = failing({ class: 'halt-early', code: 'NOT_FOUND', status: 404, message: 'gone' });
    expect(judge(attempt(answer, { isOperationProven: false, isAddressProven: false })).kind).toBe('halted');
    expect(judge(attempt(answer))).toMatchObject({ result: { code: 'ALREADY_APPLIED', unclear: false } });
  });
});

describe('an operation that throws', () => {
  const thrown = () => {
    throw new Error('why');
  };
  const refused = failing({ class: 'permanent', status: 400 });
  const unclear = withHistory({ unclear: true });
  test.each([
    ['reading an answer', { check: thrown }, right, task, 1],
    ['judging a refusal', { meansDone: thrown }, refused, task, 1],
    ['judging a refusal after an unclear attempt', { meansAlreadyApplied: thrown }, refused, unclear, 2],
  ])(
    'when %s fails its row, whose attempt counts and is unclear',
    (_title, members, answer, row, attempts) => {
      const message = 'restore-evaluation: why';
      expect(judge(attempt(answer, { operation: { ...operation, ...members }, task: row }))).toMatchObject({
        kind: 'finished',
        result: { outcome: 'failed', code: 'OPERATION_FAILED', message, unclear: true, attempts },
      });
    },
  );
});

describe('a row that must not be repeated', () => {
  const failed = { outcome: 'failed', code: 'UNAVAILABLE', unclear: true };
  test.each<[string, Partial<ApiFailure>, object]>([
    ['fails when it may have been carried out', { unclear: true }, { kind: 'finished', result: failed }],
    ['is tried again when it was not carried out', {}, { kind: 'retry' }],
    ['goes back when it was never sent', { class: 'unreachable' }, { kind: 'returned' }],
  ])('%s', (_title, failure, judgement) => {
    const once = { operation: { ...operation, repeatable: false } };
    expect(judge(attempt(failing(failure), once))).toMatchObject(judgement);
  });

  test('ends with the facts of the attempt that may have been carried out', () => {
    const known = { attempts: 2, unprocessed: 1, unclear: true, startedAt: 'then' };
    const last = { lastCode: 'TOTAL_TIMEOUT', lastMessage: 'too long', lastStatus: 504 };
    expect(refusalToRepeat(withHistory({ ...known, ...last }))).toEqual({
      kind: 'finished',
      result: {
        row: 7,
        operation: 'restore-evaluation',
        outcome: 'failed',
        code: 'NOT_REPEATED',
        message:
          'an earlier attempt may have been carried out (TOTAL_TIMEOUT: too long), and restore-evaluation must not be repeated',
        ...known,
        httpStatus: 504,
        finishedAt: expect.any(String),
      },
    });
  });
});

describe('a transient failure', () => {
  test('is repeated until its last attempt, which says whether one was unclear', () => {
    const used = (attemptsUsed: number) =>
      judge(attempt(failing({ unclear: true }), { claim: claimed({ attemptsUsed }) }));
    expect(used(3)).toMatchObject({ kind: 'retry' });
    expect(used(4)).toMatchObject({ kind: 'finished', result: { outcome: 'failed', unclear: true } });
  });

  test.each([
    [0, 1, undefined, 1_000],
    [3, 0.5, undefined, 4_000],
    [50, 1, undefined, 60_000],
    [0, 1, 5_000, 5_000],
  ])('waits (used %d, random %d, asked %s) %d ms', (attemptsUsed, random, waitMs, delayMs) => {
    const claim = claimed({ attemptsUsed, policy: { attempts: 100, backoffMs: 1_000 } });
    const answer = failing(waitMs === undefined ? {} : { waitMs });
    expect(judge(attempt(answer, { claim, random }))).toMatchObject({ kind: 'retry', delayMs });
  });

  test('is remembered with its reason, and stays unclear', () => {
    const answer = failing({ code: 'TOTAL_TIMEOUT', unclear: true, status: 504 });
    const last = { lastCode: 'TOTAL_TIMEOUT', lastMessage: 'why', lastStatus: 504 };
    const history = { attempts: 1, unprocessed: 0, unclear: true, ...last };
    expect(judge(attempt(answer))).toMatchObject({ history });
    expect(judge(attempt(failing({}), { task: withHistory(history) }))).toMatchObject({
      history: { unclear: true },
    });
  });
});

describe('"slow down"', () => {
  test.each([
    ['as long as the API asks', 0, 12_000, 12_000, 12_000],
    ['a second, or as the governor decides, when it does not say', 0, undefined, 1_000, 0],
    ['at most half a minute', 20, undefined, 30_000, 0],
  ])(
    'costs no attempt, even on the last one, and waits %s',
    (_title, unprocessed, asked, alone, governed) => {
      for (const [isGoverned, waitMs] of [[false, alone] as const, [true, governed] as const]) {
        const claim = claimed({ attemptsUsed: 4 });
        const known = { task: withHistory({ unprocessed }), claim, isGoverned };
        expect(judge(attempt(tooMany(asked), known))).toMatchObject({
          kind: 'throttled',
          waitMs,
          history: { unprocessed: unprocessed + 1, attempts: 2 },
        });
      }
    },
  );
});

test.each<[ApiFailure['class'], boolean, object]>([
  ['halt', false, { kind: 'halted', history: { attempts: 1, unprocessed: 1 } }],
  ['halt', true, { kind: 'halted' }],
  ['halt-early', false, { kind: 'halted' }],
  ['halt-early', true, { kind: 'finished' }],
  ['aborted', true, { kind: 'returned', history: { attempts: 1, unclear: true } }],
])(
  'a failure that affects every row (%s, proven right: %s) is %o',
  (failureClass, provenRight, judgement) => {
    const answer = failing({ class: failureClass, unclear: failureClass === 'aborted' });
    expect(judge(attempt(answer, { isOperationProven: provenRight }))).toMatchObject(judgement);
  },
);

describe('a row that is returned uncharged', () => {
  test.each([
    ['unclear when its call may have been processed', failing({ code: 'BAD_GATEWAY', unclear: true }), true],
    [
      'unclear when a 2xx came that is not JSON',
      failing({ code: 'ANSWER_NOT_JSON', status: 200, unclear: true }),
      true,
    ],
    ['certainly not processed when it was refused', failing({ code: 'NOT_FOUND', status: 404 }), false],
  ] as const)('is %s', (_title, answer, unclear) => {
    expect(returnUncharged(attempt(answer), answer.failure)).toMatchObject({
      kind: 'returned',
      history: { attempts: 1, unprocessed: unclear ? 0 : 1, unclear },
    });
  });
});

describe('a row whose calls have one key', () => {
  const keyed = {
    operation: { ...operation, key: 'by run' } as Operation,
    claim: claimed({ policy: { attempts: 5, backoffMs: 1_000, key: 'a' } }),
    task: withHistory({ unclear: true }),
  };

  test.each([
    ['succeeds', right, 'succeeded'],
    ['fails', failing({ class: 'permanent', code: 'NOT_FOUND', status: 404 }), 'failed'],
  ])('is clear once it is answered and %s', (_title, answer, outcome) => {
    const result = { outcome, unclear: false };
    expect(judge(attempt(answer, keyed))).toMatchObject({ kind: 'finished', result });
    const unkeyed = { ...keyed, claim: claimed() };
    expect(judge(attempt(answer, unkeyed))).toMatchObject({ result: { outcome, unclear: true } });
  });

  test.each([
    ['its last attempt got no answer', failing({ code: 'CONNECTION_LOST', unclear: true })],
    ['its answer is not about the row', wrong],
  ])('stays unclear where %s', (_title, answer) => {
    const last = { ...keyed, claim: claimed({ ...keyed.claim, attemptsUsed: 4 }) };
    expect(judge(attempt(answer, last))).toMatchObject({ result: { outcome: 'failed', unclear: true } });
  });

  test('waits while the API works on an earlier call with the key', () => {
    const answer = failing({ class: 'permanent', code: 'CONFLICT', status: 409 });
    expect(judge(attempt(answer, keyed))).toMatchObject({ kind: 'retry', history: { unclear: true } });
    expect(judge(attempt(answer, { claim: keyed.claim }))).toMatchObject({ kind: 'finished' });
  });
});

describe('a failure that others do not meet', () => {
  const broken = failing({ code: 'INTERNAL', message: 'nil pointer (request: r-17)', unclear: true });
  const known = { lastCode: 'INTERNAL', lastMessage: 'nil pointer (request: r-3)', unclear: true };
  /** It has failed alone this often, among this many accepted calls of others. */
  const alone = (refusals: number, others: number, more: Partial<AttemptHistory> = {}) =>
    withHistory({ ...known, failedAlone: { refusals, others }, ...more });
  const changes = {
    otherCalls: { accepted: 3, refused: 0, failed: 0 },
    claim: claimed({ policy: { attempts: 50, backoffMs: 0 } }),
  };

  test('the fifth time in a row is the fault of its row, which is not repeated and stays unclear', () => {
    expect(judge(attempt(broken, { ...changes, task: alone(4, 9) }))).toMatchObject({
      result: {
        outcome: 'failed',
        code: 'INTERNAL',
        unclear: true,
        message:
          'nil pointer (request: r-17) (will not pass: the same answer came 5 times in a row, while at least 12 calls of other rows were accepted)',
      },
    });
  });

  test.each<[title: string, task: RowCall, failed: number, failedAlone: AttemptHistory['failedAlone']]>([
    ['is counted', alone(3, 9), 0, { refusals: 4, others: 12 }],
    ['starts again with another text', alone(4, 9, { lastMessage: 'no' }), 0, { refusals: 1, others: 0 }],
    ['says nothing while others fail', alone(4, 9), 2, { refusals: 4, others: 9 }],
    ['needs others that are accepted', alone(7, 1), 0, { refusals: 8, others: 4 }],
  ])('%s', (_title, row, failed, failedAlone) => {
    const otherCalls = { ...changes.otherCalls, failed };
    expect(judge(attempt(broken, { ...changes, otherCalls, task: row }))).toMatchObject({
      kind: 'retry',
      history: { failedAlone, unclear: true },
    });
  });

  test.each([
    ['another failure', failing({ status: 503 })],
    ['a refusal', tooMany()],
  ])('is forgotten after %s', (_title, answer) => {
    const verdict = judge(attempt(answer, { claim: changes.claim, task: alone(4, 9) }));
    expect(verdict).not.toHaveProperty('history.failedAlone');
  });
});

const lacking = 'you may not (most likely CALLS_EDIT is missing)';
test.each([
  ['a wrong path', 'UNIMPLEMENTED', 404, 'Not Found', 'Not Found', 'Not Found (asked: /restore)'],
  ['a missing permission', 'PERMISSION_DENIED', 403, 'you may not', lacking, lacking],
  ['a named permission', 'PERMISSION_DENIED', 403, 'CALLS_EDIT', 'CALLS_EDIT', 'CALLS_EDIT'],
] as const)('%s halts the worker until a row has succeeded, and says what to check', (...row) => {
  const [, code, status, message, halted, failed] = row;
  const answer = failing({ class: 'halt-early', code, status, message });
  const of = { operation: { ...operation, permission: 'CALLS_EDIT' } };
  const failure = { message: halted };
  expect(judge(attempt(answer, { ...of, isOperationProven: false }))).toMatchObject({
    kind: 'halted',
    failure,
  });
  const result = { outcome: 'failed', code, message: failed };
  expect(judge(attempt(answer, of))).toMatchObject({ result });
});
