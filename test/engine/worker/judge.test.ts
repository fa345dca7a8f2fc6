import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import type { AttemptHistory } from '../../../src/domain/terms.ts';
import type { ApiFailure } from '../../../src/engine/api/failure.ts';
import { findOperation, type Operation } from '../../../src/engine/operation/operation.ts';
import type { Claim } from '../../../src/engine/queue/claimed-batch.ts';
import type { RowTask } from '../../../src/engine/queue/payload.ts';
import { asRefusal, type JudgedAttempt, judge, returnUncharged } from '../../../src/engine/worker/judge.ts';
import { notRepeated, uncalled } from '../../../src/engine/worker/uncalled-rows.ts';

const task: RowTask = {
  run: 'r',
  row: 7,
  operation: 'restore-evaluation',
  subject: '1',
  path: '/restore',
  body: '{}',
};

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

function claimed(changes: Partial<Claim> = {}): Claim {
  return {
    attemptsUsed: 0,
    policy: { attempts: 5, backoffMs: 1_000 },
    intend: async () => true,
    isWanted: () => true,
    ...changes,
  };
}

function attempt(answer: JudgedAttempt['answer'], changes: Partial<JudgedAttempt> = {}): JudgedAttempt {
  return {
    task,
    operation,
    claim: claimed(),
    answer,
    startedAt: new Date('2026-01-01T00:00:01Z'),
    finishedAt: new Date('2026-01-01T00:00:02Z'),
    provenRight: true,
    otherCalls: { accepted: 0, refused: 0, failed: 0 },
    governed: false,
    random: 1,
    ...changes,
  };
}

const answered = (body: unknown) => ({ ok: true, status: 200, body, requests: 1, durationMs: 12.4 }) as const;

const failing = (failure: Partial<ApiFailure> & Pick<ApiFailure, 'class'>) =>
  ({
    ok: false,
    requests: 1,
    durationMs: 5,
    failure: { code: 'UNAVAILABLE', message: 'why', unclear: false, ...failure },
  }) as const;

const withHistory = (history: Partial<AttemptHistory>): RowTask => ({
  ...task,
  history: { attempts: 1, unprocessed: 0, unclear: false, ...history },
});

describe('a 503 that depends on the rate', () => {
  const answer = failing({ class: 'retry', code: 'UNAVAILABLE', status: 503, unclear: true });

  test('was not processed, and uses up no attempt', () => {
    expect(judge(attempt(asRefusal(answer, task, operation), { governed: true }))).toMatchObject({
      kind: 'throttled',
      history: { attempts: 1, unprocessed: 1, unclear: false },
      waitMs: 0,
    });
  });

  test('is a failure of its row when the row was refused five times before', () => {
    const often = withHistory({ attempts: 5, unprocessed: 5 });
    expect(judge(attempt(asRefusal(answer, often, operation), { task: often }))).toMatchObject({
      kind: 'retry',
      history: { attempts: 6, unprocessed: 5, unclear: true },
    });
  });

  test('is a failure that may have been processed when the row must not be repeated', () => {
    expect(asRefusal(answer, task, { repeatable: false })).toBe(answer);
  });

  test.each([
    ['another failure', failing({ class: 'retry', code: 'INTERNAL', status: 500, unclear: true })],
    ['a permanent failure', failing({ class: 'permanent', code: 'NOT_FOUND', status: 503 })],
    ['a success', answered('right')],
  ])('is not %s', (_title, other) => {
    expect(asRefusal(other, task, operation)).toBe(other);
  });
});

describe('an answer', () => {
  test('that fits the request is a success with its columns', () => {
    expect(judge(attempt(answered('right')))).toEqual({
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
        startedAt: '2026-01-01T00:00:01.000Z',
        finishedAt: '2026-01-01T00:00:02.000Z',
        durationMs: 12,
        columns: { state: 'DONE' },
      },
    });
  });

  test('that fits another request is a failure with its own code, and unclear', () => {
    expect(judge(attempt(answered('wrong')))).toMatchObject({
      result: { outcome: 'failed', code: 'ANSWER_ID_MISMATCH', httpStatus: 200, unclear: true },
    });
  });

  test.each([
    ['restore-evaluation', '{}', 'ANSWER_INCOMPLETE'],
    ['restore-evaluation', '{"evaluation":{"evaluation_id":2}}', 'ANSWER_ID_MISMATCH'],
    ['restore-evaluation', '{"evaluation":{"evaluation_id":1,"deleted_at":"now"}}', 'ANSWER_STILL_DELETED'],
    ['update-soundboard', '[]', 'ANSWER_INCOMPLETE'],
    ['update-soundboard', '{"soundboard_id":2}', 'ANSWER_ID_MISMATCH'],
  ])('of %s with %s is unclear: %s', (name, body, code) => {
    const real = findOperation(operations, name);
    if (real === undefined) throw new Error(`no operation ${name}`);
    expect(judge(attempt(answered(JSON.parse(body)), { operation: real }))).toMatchObject({
      result: { outcome: 'failed', code, httpStatus: 200, unclear: true },
    });
  });

  test('keeps what earlier attempts did', () => {
    const earlier = withHistory({ attempts: 3, unclear: true, startedAt: '2025-12-31T00:00:00Z' });
    expect(judge(attempt(answered('right'), { task: earlier }))).toMatchObject({
      result: { attempts: 4, unclear: true, startedAt: '2025-12-31T00:00:00Z' },
    });
  });
});

describe('a permanent refusal', () => {
  test('is a failure', () => {
    expect(judge(attempt(failing({ class: 'permanent', status: 404 })))).toMatchObject({
      kind: 'finished',
      result: { outcome: 'failed', code: 'UNAVAILABLE', message: 'why', httpStatus: 404, attempts: 1 },
    });
  });

  test('that means "done already", after an unclear attempt, is a success', () => {
    const changes = { task: withHistory({ unclear: true }) };
    expect(judge(attempt(failing({ class: 'permanent', message: 'not deleted' }), changes))).toMatchObject({
      result: { outcome: 'succeeded', code: 'ALREADY_APPLIED', unclear: true, attempts: 2 },
    });
  });

  test('that means "done already" is a failure when no attempt was unclear', () => {
    expect(judge(attempt(failing({ class: 'permanent', message: 'not deleted' })))).toMatchObject({
      result: { outcome: 'failed', unclear: false },
    });
  });

  test.each([
    ['none was unclear', false, 'there was nothing left to do (gone)'],
    ['an attempt was unclear', true, 'most likely done by an earlier attempt whose answer was lost (gone)'],
  ])('that means "done" is a success, and stays clear or unclear, when %s', (_title, unclear, message) => {
    const answer = failing({ class: 'permanent', code: 'NOT_FOUND', status: 404, message: 'gone' });
    expect(judge(attempt(answer, { task: withHistory({ unclear }) }))).toMatchObject({
      result: { outcome: 'succeeded', code: 'ALREADY_APPLIED', message, unclear, httpStatus: 404 },
    });
  });

  test('without JSON means "done" only once a row has succeeded: it may come from another address', () => {
    const answer = failing({ class: 'halt-early', code: 'NOT_FOUND', status: 404, message: 'gone' });
    expect(judge(attempt(answer, { provenRight: false })).kind).toBe('halted');
    expect(judge(attempt(answer))).toMatchObject({ result: { code: 'ALREADY_APPLIED', unclear: false } });
  });
});

describe('an operation that throws', () => {
  const thrown = () => {
    throw new Error('why');
  };
  const refused = failing({ class: 'permanent', status: 400 });
  const unclear = { task: withHistory({ unclear: true }) };
  test.each([
    ['reading an answer', { check: thrown }, answered('right'), {}, 1],
    ['judging a refusal', { meansDone: thrown }, refused, {}, 1],
    ['judging a refusal after an unclear attempt', { meansAlreadyApplied: thrown }, refused, unclear, 2],
  ])(
    'when %s fails its row, whose attempt counts and is unclear',
    (_title, members, answer, more, attempts) => {
      const changes = { operation: { ...operation, ...members }, ...more };
      const code = 'OPERATION_FAILED';
      expect(judge(attempt(answer, changes))).toMatchObject({
        kind: 'finished',
        result: { outcome: 'failed', code, message: 'restore-evaluation: why', unclear: true, attempts },
      });
    },
  );
});

describe('a row that must not be repeated', () => {
  const once = { operation: { ...operation, repeatable: false } };

  test.each([
    [
      'fails when its attempt may have been carried out',
      'retry',
      true,
      { kind: 'finished', result: { outcome: 'failed', code: 'UNAVAILABLE', unclear: true } },
    ],
    ['is tried again when its attempt was not carried out', 'retry', false, { kind: 'retry' }],
    ['goes back when it was never sent', 'unreachable', false, { kind: 'returned' }],
  ] as const)('%s', (_title, failureClass, unclear, judgement) => {
    expect(judge(attempt(failing({ class: failureClass, unclear }), once))).toMatchObject(judgement);
  });

  test('ends with the facts of the attempt that may have been carried out', () => {
    const known = {
      attempts: 2,
      unprocessed: 1,
      unclear: true,
      startedAt: 'then',
      lastCode: 'TOTAL_TIMEOUT',
    };
    expect(notRepeated(withHistory({ ...known, lastMessage: 'too long', lastStatus: 504 }))).toEqual({
      kind: 'finished',
      result: {
        ...{ row: 7, operation: 'restore-evaluation', outcome: 'failed', code: 'NOT_REPEATED' },
        message:
          'an earlier attempt may have been carried out (TOTAL_TIMEOUT: too long), and restore-evaluation must not be repeated',
        ...{ attempts: 2, unprocessed: 1, unclear: true, httpStatus: 504, startedAt: 'then' },
        finishedAt: expect.any(String),
      },
    });
  });
});

describe('a transient failure', () => {
  test.each([
    ['retry', 0, 'retry'],
    ['retry', 3, 'retry'],
    ['retry', 4, 'finished'],
  ] as const)('of class %s, with %d attempts used, is: %s', (failureClass, attemptsUsed, kind) => {
    const claim = claimed({ attemptsUsed });
    expect(judge(attempt(failing({ class: failureClass }), { claim })).kind).toBe(kind);
  });

  test.each([
    [0, 1, undefined, 1_000],
    [1, 1, undefined, 2_000],
    [3, 0.5, undefined, 4_000],
    [0, 0, undefined, 0],
    [0, 1, 5_000, 5_000],
    [3, 1, 5_000, 8_000],
  ])('waits (used %d, random %d, asked %s) %d ms', (attemptsUsed, random, waitMs, delayMs) => {
    const claim = claimed({ attemptsUsed });
    const answer = failing({ class: 'retry', ...(waitMs !== undefined && { waitMs }) });
    expect(judge(attempt(answer, { claim, random }))).toMatchObject({ kind: 'retry', delayMs });
  });

  test('never waits for longer than a minute on its own', () => {
    const claim = claimed({ attemptsUsed: 50, policy: { attempts: 100, backoffMs: 1_000 } });
    expect(judge(attempt(failing({ class: 'retry' }), { claim }))).toMatchObject({ delayMs: 60_000 });
  });

  test('is remembered with its reason, and stays unclear', () => {
    const answer = failing({ class: 'retry', code: 'TOTAL_TIMEOUT', unclear: true, status: 504 });
    expect(judge(attempt(answer))).toMatchObject({
      history: {
        attempts: 1,
        unprocessed: 0,
        unclear: true,
        lastCode: 'TOTAL_TIMEOUT',
        lastMessage: 'why',
        lastStatus: 504,
      },
    });
    const clear = failing({ class: 'retry' });
    expect(judge(attempt(clear, { task: withHistory({ unclear: true }) }))).toMatchObject({
      history: { unclear: true },
    });
  });

  test('that was the last attempt says whether one was unclear', () => {
    const claim = claimed({ attemptsUsed: 4 });
    expect(judge(attempt(failing({ class: 'retry', unclear: true }), { claim }))).toMatchObject({
      result: { outcome: 'failed', unclear: true },
    });
  });
});

describe('"slow down"', () => {
  test.each([
    ['as long as the API asks', 0, 12_000, 12_000],
    ['a second when it does not say', 0, undefined, 1_000],
    ['twice as long with each refusal', 3, undefined, 8_000],
    ['at most half a minute', 20, undefined, 30_000],
    ['at least a moment', 0, 0, 100],
  ])('waits %s', (_title, unprocessed, waitMs, expected) => {
    const answer = failing({ class: 'slow-down', ...(waitMs !== undefined && { waitMs }) });
    expect(judge(attempt(answer, { task: withHistory({ unprocessed }) }))).toMatchObject({
      kind: 'throttled',
      waitMs: expected,
      history: { unprocessed: unprocessed + 1, attempts: 2 },
    });
  });

  test.each([
    ['as long as the API asks', 0, 12_000, 12_000],
    ['at least a moment when it asks', 0, 0, 100],
    ['as long as the governor decides when it does not say', 0, undefined, 0],
    ['no longer after many refusals', 20, undefined, 0],
  ])('waits, with a governor, %s', (_title, unprocessed, waitMs, expected) => {
    const answer = failing({ class: 'slow-down', ...(waitMs !== undefined && { waitMs }) });
    const judged = judge(attempt(answer, { task: withHistory({ unprocessed }), governed: true }));
    expect(judged).toMatchObject({
      kind: 'throttled',
      waitMs: expected,
      history: { unprocessed: unprocessed + 1, attempts: 2 },
    });
  });

  test('costs no attempt, even on the last one', () => {
    const claim = claimed({ attemptsUsed: 4 });
    expect(judge(attempt(failing({ class: 'slow-down' }), { claim })).kind).toBe('throttled');
  });
});

describe('a failure that affects every row', () => {
  test.each([
    ['halt', false, 'halted'],
    ['halt', true, 'halted'],
    ['halt-early', false, 'halted'],
    ['halt-early', true, 'finished'],
    ['aborted', true, 'returned'],
  ] as const)('(%s, proven right: %s) is: %s', (failureClass, provenRight, kind) => {
    expect(judge(attempt(failing({ class: failureClass }), { provenRight })).kind).toBe(kind);
  });

  test('leaves a row unprocessed that was refused like all others', () => {
    expect(judge(attempt(failing({ class: 'halt' })))).toMatchObject({
      history: { attempts: 1, unprocessed: 1 },
    });
  });

  test('hands an aborted row back with its history', () => {
    expect(judge(attempt(failing({ class: 'aborted', unclear: true })))).toMatchObject({
      kind: 'returned',
      history: { attempts: 1, unclear: true },
    });
  });
});

describe('a claimed row that was not called', () => {
  const earlier = { attempts: 2, unprocessed: 1, unclear: false, lastCode: 'UNAVAILABLE' };

  test.each([
    ['is unchanged', withHistory(earlier), earlier],
    ['is like new when it was never called', task, { attempts: 0, unprocessed: 0, unclear: false }],
  ])('%s', (_title, row, history) => {
    expect(uncalled(row)).toEqual({ kind: 'returned', history });
  });
});

describe('a row that is returned uncharged', () => {
  const halfDone = failing({ class: 'retry', code: 'BAD_GATEWAY', unclear: true });
  const page = failing({ class: 'retry', code: 'ANSWER_NOT_JSON', unclear: true });

  test.each([
    ['that may have been processed', halfDone, 'unproven', true],
    ['that got a page from a service that had answered before', page, 'target', true],
    ['that got a page from a service that had never answered', page, 'unproven', false],
  ] as const)('%s is unclear or certainly not processed', (_title, answer, blame, unclear) => {
    expect(returnUncharged(attempt(answer), answer.failure, blame)).toMatchObject({
      kind: 'returned',
      history: { attempts: 1, unprocessed: unclear ? 0 : 1, unclear },
    });
  });
});

describe('a row whose calls have one key', () => {
  const keyed = {
    operation: { ...operation, idempotencyKey: true } as Operation,
    claim: claimed({ policy: { attempts: 5, backoffMs: 1_000, key: 'a' } }),
    task: withHistory({ unclear: true }),
  };

  test.each([
    ['succeeds', answered('right'), 'succeeded'],
    ['fails', failing({ class: 'permanent', code: 'NOT_FOUND', status: 404 }), 'failed'],
  ])('is clear once it is answered and %s', (_title, answer, outcome) => {
    expect(judge(attempt(answer, keyed))).toMatchObject({
      kind: 'finished',
      result: { outcome, unclear: false },
    });
    const unkeyed = { ...keyed, claim: claimed() };
    expect(judge(attempt(answer, unkeyed))).toMatchObject({ result: { outcome, unclear: true } });
  });

  test.each([
    ['its last attempt got no answer', failing({ class: 'retry', code: 'CONNECTION_LOST', unclear: true })],
    ['its answer is not about the row', answered('wrong')],
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
  const broken = failing({
    class: 'retry',
    code: 'INTERNAL',
    message: 'nil pointer (request: r-17)',
    unclear: true,
  });
  const others = { accepted: 3, refused: 0, failed: 0 };
  const known = { lastCode: 'INTERNAL', lastMessage: 'nil pointer (request: r-3)', unclear: true };
  const often = withHistory({ ...known, failedAlone: { refusals: 4, others: 9 } });
  const patient = claimed({ policy: { attempts: 50, backoffMs: 0 } });

  test('the fifth time in a row is the fault of its row, which is not repeated and stays unclear', () => {
    expect(judge(attempt(broken, { task: often, otherCalls: others, claim: patient }))).toMatchObject({
      result: {
        outcome: 'failed',
        code: 'INTERNAL',
        unclear: true,
        message:
          'nil pointer (request: r-17) (will not pass: the same answer came 5 times in a row, while at least 12 calls of other rows were accepted)',
      },
    });
  });

  test.each<[string, Partial<JudgedAttempt>, AttemptHistory['failedAlone']]>([
    [
      'is counted',
      { task: withHistory({ ...known, failedAlone: { refusals: 3, others: 9 } }) },
      { refusals: 4, others: 12 },
    ],
    [
      'starts again with another text',
      { task: withHistory({ ...often.history, lastMessage: 'no memory' }) },
      { refusals: 1, others: 0 },
    ],
    [
      'starts again after another code',
      { task: withHistory({ ...often.history, lastCode: 'CONNECTION_LOST' }) },
      { refusals: 1, others: 0 },
    ],
    [
      'says nothing while others fail',
      { otherCalls: { accepted: 3, refused: 0, failed: 2 } },
      { refusals: 4, others: 9 },
    ],
    [
      'needs others that are accepted',
      { task: withHistory({ ...known, failedAlone: { refusals: 7, others: 1 } }) },
      { refusals: 8, others: 4 },
    ],
  ])('%s', (_title, changes, failedAlone) => {
    expect(
      judge(attempt(broken, { task: often, otherCalls: others, claim: patient, ...changes })),
    ).toMatchObject({
      kind: 'retry',
      history: { failedAlone, unclear: true },
    });
  });

  test.each<[string, JudgedAttempt['answer']]>([
    ['another failure', failing({ class: 'retry', code: 'UNAVAILABLE', status: 503 })],
    ['a refusal', failing({ class: 'slow-down', code: 'RESOURCE_EXHAUSTED', status: 429 })],
  ])('is forgotten after %s', (_title, answer) => {
    expect(judge(attempt(answer, { task: often, claim: patient }))).not.toHaveProperty('history.failedAlone');
  });
});

describe('a wrong path', () => {
  const router = failing({ class: 'halt-early', code: 'UNIMPLEMENTED', status: 404, message: 'gone' });

  test('halts the worker until a row has succeeded; later the row says what was asked', () => {
    expect(judge(attempt(router, { provenRight: false }))).toMatchObject({
      kind: 'halted',
      failure: { message: 'gone' },
    });
    const elsewhere = failing({ ...router.failure, message: 'Not Found' });
    expect(judge(attempt(elsewhere))).toMatchObject({
      result: { outcome: 'failed', code: 'UNIMPLEMENTED', message: 'Not Found (asked: /restore)' },
    });
  });
});

test.each([
  [
    'a refusal names the permission that is missing',
    'you may not',
    'you may not (most likely CALLS_EDIT is missing)',
  ],
  ['unless it does so itself', 'needs CALLS_EDIT', 'needs CALLS_EDIT'],
])('%s', (_title, message, expected) => {
  const answer = failing({ class: 'halt-early', code: 'PERMISSION_DENIED', status: 403, message });
  const changes = { operation: { ...operation, permission: 'CALLS_EDIT' } };
  expect(judge(attempt(answer, changes))).toMatchObject({ result: { message: expected } });
  expect(judge(attempt(answer, { ...changes, provenRight: false }))).toMatchObject({
    failure: { message: expected },
  });
});
