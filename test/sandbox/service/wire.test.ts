import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeBody } from '../../../src/sandbox/service/wire.ts';
import { parseJson, stringifyJson } from '../../../src/text/json.ts';

const body = {
  evaluation: {
    evaluation_id: 9223372036854775807n,
    score: 87.5,
    is_recoverable: true,
    evaluation_sections: [{ sort_order: 1, points: 3, auto_evaluation_questions: [{ flagged: [4, 5] }] }],
    custom_fields: [],
    call_metadata: {},
    comment: 'a_b "c"\u0000\ud800',
  },
};

test.each([
  [
    { integers: 'number', case: 'snake' },
    '{"evaluation":{"evaluation_id":9223372036854775807,"score":87.5,"is_recoverable":true,"evaluation_sections":[{"sort_order":1,"points":3,"auto_evaluation_questions":[{"flagged":[4,5]}]}],"custom_fields":[],"call_metadata":{},"comment":"a_b \\"c\\"\\u0000\\ud800"}}',
  ],
  [
    { integers: 'string', case: 'camel' },
    '{"evaluation":{"evaluationId":"9223372036854775807","score":87.5,"isRecoverable":true,"evaluationSections":[{"sortOrder":"1","points":3,"autoEvaluationQuestions":[{"flagged":["4","5"]}]}],"customFields":[],"callMetadata":{},"comment":"a_b \\"c\\"\\u0000\\ud800"}}',
  ],
] as const)('in the style %j', (style, text) => {
  expect(writeBody(body, style)).toBe(text);
});

test('in the plain style it is the JSON of the value, exact decimals included', () => {
  const style = { integers: 'number', case: 'snake' } as const;
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false })), (value) => {
      expect(parseJson(writeBody(value, style))).toEqual(parseJson(stringifyJson(value)));
    }),
  );
  const exact = '{"score":0.1234567890123456789012345}';
  expect(writeBody(parseJson(exact) as object, style)).toBe(exact);
});
