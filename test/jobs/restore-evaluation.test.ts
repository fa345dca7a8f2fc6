import { describe, expect, test } from 'vitest';
import { restoreEvaluation as operation } from '../../jobs/restore-evaluation.ts';
import { parseJson } from '../../src/base/text/json.ts';
import { problems } from './problems.ts';

// Fields of each type: engine/operation/row-fields.test.ts. Answers: answer-shapes.test.ts and client.test.ts.
describe('the row schema', () => {
  test.each<[unknown, string]>([
    [' 12 ', '12'],
    ['007', '7'],
    ['9223372036854775807', '9223372036854775807'],
    [9007199254740993n, '9007199254740993'],
    ['\u200e1\u200b', '1'],
  ])('reads the id %o as %s, and ignores fields of other operations', (id, expected) => {
    const row = operation.schema.parse({ evaluation_id: id, user_id: '\ufeff Ünï 1\u200f\t', title: 5 });
    expect(row).toEqual({ evaluation_id: expected, user_id: 'Ünï 1' });
    expect(row[operation.subject]).toBe(expected);
  });

  const noUser = 'missing; add a column user_id, or pass --default user_id=VALUE for all rows';

  test.each([
    [{ evaluation_id: undefined }, /^evaluation_id: missing; every row needs the column evaluation_id$/],
    [{ evaluation_id: '1\u200b2' }, /^evaluation_id: /],
    [{ user_id: undefined }, new RegExp(`^user_id: ${noUser}$`)],
    [{ user_id: 42 }, /^user_id: must be text; in JSON write it in quotes$/],
    [{ user_id: 'u\u200b1' }, /^user_id: .*a character inside that you cannot see/],
    [{ user_id: 'u\u202e1' }, /^user_id: .*a character inside that you cannot see/],
  ])('says what is wrong with %o and how to correct it', (row, problem) => {
    const found = problems(operation.schema, { evaluation_id: '5', user_id: 'u', ...row });
    expect(found).toEqual([expect.stringMatching(problem)]);
  });
});

describe('the check of the answer', () => {
  const check = (text: string) => operation.check('5', parseJson(text));

  test('leaves columns empty for missing parts of the answer', () => {
    const answer = check('{"evaluation":{"evaluationId":"5","callMetadata":{"callSid":77}}}');
    expect(answer).toMatchObject({ ok: true, columns: { call_sid: '77', score: '', scorer_id: '' } });
    expect(answer.ok && Object.keys(answer.columns)).toEqual(operation.columns);
  });

  test.each([
    ['{"evaluation":{"evaluation_id":6}}', 'ANSWER_ID_MISMATCH'],
    ['{"evaluation":{"evaluation_id":5,"deleted_at":"2024-05-01"}}', 'ANSWER_STILL_DELETED'],
    ['{"error":"x"}', 'ANSWER_INCOMPLETE'],
  ])('refuses %s with %s', (text, code) => {
    expect(check(text)).toMatchObject({ ok: false, code });
  });
});

describe('a refusal', () => {
  const isApplied = (code: string, message: string) => operation.meansAlreadyApplied({ code, message });

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
  ])('means that it has been restored: %s', (message) => {
    for (const code of ['FAILED_PRECONDITION', 'ALREADY_EXISTS', 'INVALID_ARGUMENT', 'CONFLICT'])
      expect([code, isApplied(code, message)]).toEqual([code, true]);
    for (const code of ['NOT_FOUND', 'PERMISSION_DENIED', 'UNAVAILABLE', 'ABORTED', 'HTTP_418'])
      expect([code, isApplied(code, message)]).toEqual([code, false]);
  });

  test.each([
    'evaluation is not recoverable: permanently deleted',
    'evaluation was not deleted by you',
    'evaluation is already deleted',
    'evaluation was deleted and cannot be restored',
    'user is not active',
    'scorecard is deleted',
    '',
  ])('does not mean that: %s', (message) => {
    expect(isApplied('FAILED_PRECONDITION', message)).toBe(false);
  });
});
