import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Evaluation, evaluationSchema, evaluationSummary } from '../../jobs/evaluation.ts';
import { parseJson } from '../../src/base/text/json.ts';

/** Every field of the interface document, sections 2.1 to 2.5. */
const document = `{
  "evaluation_id": 9223372036854775807, "scorecard_id": 9007199254740993, "scorer_id": "u-1", "call_sid": 3,
  "score": 87.5, "evaluation_state": "EVALUATION_IN_PROGRESS",
  "evaluation_sections": [{
    "evaluation_section_id": 4, "evaluation_id": 9223372036854775807, "section_id": 5, "points": 1.5,
    "possible_points": 2, "sort_order": 1, "deleted_at": "d", "created_at": "c",
    "evaluation_questions": [{
      "evaluation_question_id": 6, "evaluation_id": 7, "scorecard_question_id": 8, "skipped": false, "points": 1,
      "answers": [{ "answer_points": 0.25 }], "evaluation_section_id": 4, "comment": "fine", "sort_order": 2
    }],
    "auto_evaluation_questions": [{
      "auto_evaluation_question_id": 9, "auto_evaluation_id": 10, "auto_evaluation_section_id": 11,
      "auto_question_id": 12, "flagged": [1, 9007199254740993], "passed": true, "sort_order": 3,
      "risk_level": "RISK_LEVEL_NONE", "expression_matched": false
    }],
    "skipped": true
  }],
  "completed_at": "2024-05-01T12:00:00Z", "deleted_at": "2024-05-02T12:00:00Z", "agent_user_id": "a-1",
  "call_type": "INBOUND", "transcript_sid": 13, "custom_fields": [{ "key": "k", "field": "f" }],
  "deleted_by": "u-2", "is_recoverable": true, "channel_type": "CHANNEL_TYPE_EMAIL",
  "call_metadata": { "call_sid": 3, "call_type": "INBOUND" }, "conversation_metadata": { "conversation_sid": 14 }
}`;

const camelCase = (text: string): string =>
  text.replace(/"(\w+)":/g, (key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

const decimals: ReadonlySet<string> = new Set(['score', 'points', 'possiblePoints', 'answerPoints']);

/** A value of the document as it is read: each integer is exact. */
function exact(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => exact(each, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, exact(inner, key)]));
  return typeof value === 'number' && !decimals.has(name) ? BigInt(value) : value;
}

const expected = exact(parseJson(camelCase(document))) as Evaluation;

const integersAsText = (text: string): string => text.replace(/(?<=[[:] ?|, )(\d+)(?=[,\s}\]])/g, '"$1"');

describe('an evaluation', () => {
  test.each([
    ['in snake_case', document],
    ['in lowerCamelCase', camelCase(document)],
    ['in lowerCamelCase with integers as text', integersAsText(camelCase(document))],
    ['with unknown fields', document.replaceAll('{', '{ "new": { "x": [1] }, "__proto__": { "score": 1 },')],
  ])('is read whole %s', (_, text) => {
    expect(evaluationSchema.parse(parseJson(text))).toEqual(expected);
  });

  test('is read without sections and custom fields as a summary', () => {
    const { evaluationSections, customFields, ...summary } = expected;
    expect(evaluationSummary(parseJson(document))).toEqual(summary);
    expect([evaluationSections, customFields]).not.toContain(undefined);
  });

  test('is no list', () => {
    expect(evaluationSchema.safeParse([]).error?.issues).toMatchObject([{ code: 'invalid_type' }]);
  });

  test('is read from any object: fields of unexpected types are left out, never an error', () => {
    const names = Object.keys(parseJson(document) as object);
    const anything = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), fc.jsonValue());
    fc.assert(
      fc.property(anything, anything, (outer, inner) => {
        const nested = { evaluation_sections: [inner, outer], call_metadata: inner, custom_fields: inner };
        const result = evaluationSchema.safeParse({ ...outer, ...nested });
        expect(result.success).toBe(true);
        const { evaluationId, scorerId } = result.data ?? {};
        expect(['bigint', 'undefined']).toContain(typeof evaluationId);
        expect(['string', 'undefined']).toContain(typeof scorerId);
      }),
    );
  });
});
