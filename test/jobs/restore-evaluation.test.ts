import { describe, expect, test } from 'vitest';
import { restoreEvaluation as operation } from '../../jobs/restore-evaluation.ts';
import { parseJson } from '../../src/base/text/json.ts';
import { problems } from './problems.ts';

describe('the row schema', () => {
  test.each<[unknown, string]>([
    ['1', '1'],
    [' 12 ', '12'],
    ['007', '7'],
    ['9223372036854775807', '9223372036854775807'],
    [9007199254740993n, '9007199254740993'],
    [12, '12'],
  ])('reads the id %o as %s', (id, expected) => {
    const row = operation.schema.parse({ evaluation_id: id, user_id: 'u' });
    expect(row).toEqual({ evaluation_id: expected, user_id: 'u' });
    expect(row[operation.subject]).toBe(expected);
  });

  test('keeps the user id, without the blanks around it', () => {
    const row = { evaluation_id: '\u200e1\u200b', user_id: '\ufeff Ünï 1\u200f\t' };
    expect(operation.schema.parse(row)).toEqual({ evaluation_id: '1', user_id: 'Ünï 1' });
  });

  test.each(['u\u200b1', 'u\u202e1', 'u\u00ad1', 'u\u00001'])('refuses the user id %j', (userId) => {
    const parsed = operation.schema.safeParse({ evaluation_id: 1, user_id: userId });
    expect(parsed.error?.issues[0]?.message).toMatch(/a character inside that you cannot see/);
  });

  test('refuses a number with a character inside that you cannot see', () => {
    expect(operation.schema.safeParse({ evaluation_id: '1\u200b2', user_id: 'u' }).success).toBe(false);
  });

  test('ignores fields of other operations', () => {
    expect(operation.schema.parse({ evaluation_id: 1, user_id: 'u', title: 5 })).not.toHaveProperty('title');
  });

  test.each([
    [{}, 'evaluation_id: missing; every row needs the column evaluation_id'],
    [{ evaluation_id: '' }, 'evaluation_id: missing; every row needs the column evaluation_id'],
    [
      { user_id: undefined },
      'user_id: missing; add a column user_id, or pass --default user_id=VALUE for all rows',
    ],
    [{ user_id: '' }, 'user_id: missing; add a column user_id, or pass --default user_id=VALUE for all rows'],
    [
      { user_id: '  ' },
      'user_id: missing; add a column user_id, or pass --default user_id=VALUE for all rows',
    ],
    [{ user_id: 42 }, 'user_id: must be text; in JSON write it in quotes'],
    [{ user_id: ['u'] }, 'user_id: must be text; in JSON write it in quotes'],
  ])('says what is wrong with %o and how to correct it', (row, problem) => {
    const complete = 'user_id' in row ? { evaluation_id: '5', ...row } : { user_id: 'u', ...row };
    expect(problems(operation.schema, complete)).toEqual([problem]);
  });

  test('names every problem of a row', () => {
    expect(problems(operation.schema, {})).toHaveLength(2);
  });
});

describe('the request', () => {
  test.each([['9007199254740993'], ['9223372036854775807']])('carries the id %s as that literal', (id) => {
    const row = operation.schema.parse({ evaluation_id: id, user_id: 'a"b😀\ud800' });
    expect(operation.request(row)).toEqual({
      path: '/api/v1alpha1/scorecards/scorecards/restoreevaluation',
      body: `{"evaluation_id":${id},"user_id":"a\\"b😀\\ud800"}`,
    });
    expect(operation.request(row)).toEqual(operation.request({ ...row }));
  });

  test('has the fields that the operation declares', () => {
    const row = operation.schema.parse({ evaluation_id: '1', user_id: 'u' });
    const body = parseJson(operation.request(row).body) as object;
    expect(Object.keys(body)).toEqual(operation.fields.map(({ name }) => name));
  });
});

describe('the check of the answer', () => {
  const check = (text: string) => operation.check('5', parseJson(text));

  test('fills every column that the operation declares', () => {
    const answer = check(`{"evaluation":{"evaluation_id":5,"evaluation_state":"EVALUATION_IN_PROGRESS",
      "scorecard_id":9223372036854775807,"scorer_id":"s","agent_user_id":"a","call_sid":"77","score":87.5,
      "completed_at":"2024-05-01","deleted_at":"","conversation_metadata":{"conversation_sid":8}}}`);
    expect(answer).toEqual({
      ok: true,
      columns: {
        evaluation_state: 'EVALUATION_IN_PROGRESS',
        scorecard_id: '9223372036854775807',
        scorer_id: 's',
        agent_user_id: 'a',
        call_sid: '77',
        conversation_sid: '8',
        score: '87.5',
        completed_at: '2024-05-01',
      },
    });
    expect(answer.ok && Object.keys(answer.columns)).toEqual(operation.columns);
  });

  test('leaves columns empty for missing parts of the answer, and finds the call in its metadata', () => {
    const answer = check('{"evaluation":{"evaluationId":"5","callMetadata":{"callSid":77}}}');
    expect(answer).toMatchObject({ ok: true, columns: { call_sid: '77', score: '', scorer_id: '' } });
  });

  test.each(['"0001-01-01T00:00:00Z"', '"1970-01-01T00:00:00Z"', '"0"', '0', '{}', '""', 'null'])(
    'takes the deletion time %s for none: the evaluation is restored',
    (time) => {
      expect(check(`{"evaluation":{"evaluation_id":5,"deleted_at":${time}}}`)).toMatchObject({ ok: true });
    },
  );

  test.each([
    ['{"evaluation":{"evaluation_id":6}}', 'ANSWER_ID_MISMATCH'],
    ['{"evaluation":{"evaluation_id":5,"deleted_at":"2024-05-01"}}', 'ANSWER_STILL_DELETED'],
    ['{"evaluation":{"evaluation_id":null}}', 'ANSWER_INCOMPLETE'],
    ['{"error":"x"}', 'ANSWER_INCOMPLETE'],
    ['null', 'ANSWER_INCOMPLETE'],
  ])('refuses %s with %s', (text, code) => {
    expect(check(text)).toMatchObject({ ok: false, code });
  });
});

describe('a refusal', () => {
  test.each([
    'Evaluation 5 is not deleted',
    'evaluation is not currently deleted',
    'evaluation has not been deleted',
    "evaluation isn't deleted",
    'evaluation wasn’t deleted',
    'evaluation is not in a deleted state',
    'only deleted evaluations can be restored',
    'evaluation was already restored',
    'evaluation has already been restored',
    'evaluation is already active',
    'EVALUATION_NOT_DELETED: bad state',
    'NOT-DELETED',
  ])('means that it has been restored: %s', (message) => {
    for (const code of ['FAILED_PRECONDITION', 'ALREADY_EXISTS', 'INVALID_ARGUMENT', 'CONFLICT']) {
      expect(operation.meansAlreadyApplied({ code, message })).toBe(true);
    }
    for (const code of ['NOT_FOUND', 'PERMISSION_DENIED', 'UNAVAILABLE', 'ABORTED', 'HTTP_418']) {
      expect(operation.meansAlreadyApplied({ code, message })).toBe(false);
    }
  });

  test.each([
    'evaluation is not recoverable',
    'not recoverable: permanently deleted',
    'evaluation was not deleted by you',
    'evaluation is already deleted',
    'evaluation was deleted and cannot be restored',
    'user is not active',
    'user_id is invalid',
    'scorecard is deleted',
    '',
  ])('does not mean that: %s', (message) => {
    expect(operation.meansAlreadyApplied({ code: 'FAILED_PRECONDITION', message })).toBe(false);
  });
});
