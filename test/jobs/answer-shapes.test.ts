import { describe, expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { clientOf, httpServer } from '../engine/api/local-server.ts';

/** An answer of each operation as the interface document writes it, and the report columns that every shape of it fills. */
const answers: Readonly<Record<(typeof operations)[number]['name'], { text: string; columns: object }>> = {
  'restore-evaluation': {
    text: `{"evaluation":{"evaluation_id":9223372036854775807,"scorecard_id":9007199254740993,"scorer_id":"s","call_sid":77,
      "score":87.5,"evaluation_state":"EVALUATION_PASSED","evaluation_sections":[{"section_id":5,"sort_order":1,"deleted_at":null}],
      "completed_at":"2026-01-02T03:04:05Z","deleted_at":"","agent_user_id":"a","call_type":"INBOUND","is_recoverable":false,
      "channel_type":"CHANNEL_TYPE_EMAIL","call_metadata":{"call_sid":77,"call_type":"INBOUND"},
      "conversation_metadata":{"conversation_sid":8}}}`,
    columns: {
      evaluation_state: 'EVALUATION_PASSED',
      scorecard_id: '9007199254740993',
      scorer_id: 's',
      agent_user_id: 'a',
      call_sid: '77',
      conversation_sid: '8',
      score: '87.5',
      completed_at: '2026-01-02T03:04:05Z',
    },
  },
  'update-soundboard': {
    text: '{"soundboard_id":9223372036854775807}',
    columns: { soundboard_id: '9223372036854775807' },
  },
};

const camelCase = (text: string) =>
  text.replace(/"(\w+)":/g, (key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
const textIntegers = (text: string) => text.replace(/(?<=_?(?:id|sid|order|Id|Sid|Order)":)(\d+)/g, '"$1"');
const deletedAt = (value: string) => (text: string) =>
  text.replace('"deleted_at":""', `"deleted_at":${value}`);
const absent = (text: string) => text.replace('"deleted_at":"",', '').replace('"is_recoverable":false,', '');
const withZeros = (text: string) =>
  text.replace(
    '"is_recoverable"',
    '"transcript_sid":"0","custom_fields":[],"deleted_by":"","is_recoverable"',
  );
const numbered = (text: string) =>
  text.replace('"EVALUATION_PASSED"', '2').replaceAll('"INBOUND"', '0').replace('"CHANNEL_TYPE_EMAIL"', '1');

/** The columns that differ in a shape. */
type Shape = [shape: string, write: (text: string) => string, columns?: object];

const zeros = [
  'null',
  '0',
  '"0001-01-01T00:00:00Z"',
  '"1970-01-01T00:00:00Z"',
  '{"seconds":"0","nanos":0}',
  '{}',
];
const replaced = (from: string | RegExp, to: string) => (text: string) => text.replaceAll(from, to);
const unset = replaced(/"(scorecard_id|conversation_sid)":\d+/g, '"$1":"0"');

const shapes: readonly Shape[] = [
  ['that of the document', (text) => text],
  ['of a gateway', (text) => camelCase(textIntegers(withZeros(text)))],
  ['of a gateway with the names of the description', (text) => textIntegers(withZeros(text))],
  ['of Connect', (text) => camelCase(textIntegers(absent(text)))],
  ['with names in camelCase and 64-bit numbers as numbers', camelCase],
  ...zeros.map((zero): Shape => [`with the zero time ${zero}`, deletedAt(zero)]),
  [
    'of a conversation, with zeros for the call',
    replaced('"call_sid":77', '"call_sid":"0"'),
    { call_sid: '' },
  ],
  ['with the call in its metadata alone', (text) => text.replace('"call_sid":77', '"call_sid":0')],
  ['with zeros for what is not set', unset, { scorecard_id: '', conversation_sid: '' }],
  // The public description names the states without their numbers.
  ['with enums as numbers', numbered, { evaluation_state: '2' }],
  ['with unknown members', replaced('{', '{"new_member":{"x":[1]},"@type":"x",')],
];

/** What a client receives. */
async function received(status: number, body: string) {
  const server = await httpServer((response) => void response.writeHead(status).end(body));
  return clientOf(server.url).send({ path: '/any', body: '{}' });
}

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s',
  (name, operation) => {
    test.each<Shape>(shapes)('reads an answer %s', async (_shape, write, differing = {}) => {
      const { text, columns } = answers[name];
      const answer = await received(200, write(text));
      if (!answer.ok) throw new Error(answer.failure.message);
      const expected = Object.entries(differing).filter(([column]) => column in columns);
      expect(operation.check('9223372036854775807', answer.body)).toEqual({
        ok: true,
        columns: { ...columns, ...Object.fromEntries(expected) },
      });
    });
  },
);

const reason = { reason: 'EVALUATION_NOT_DELETED', domain: 'scorecards' };
const type = 'google.rpc.ErrorInfo';

test.each([
  ['gateway', 9, { '@type': `type.googleapis.com/${type}`, ...reason }],
  ['Connect', 'failed_precondition', { type, value: 'CgIIAQ', debug: reason }],
])('"not deleted" as a reason of a %s means that it was done before', async (_from, code, detail) => {
  const answer = await received(400, JSON.stringify({ code, message: 'wrong state', details: [detail] }));
  if (answer.ok) throw new Error('the service refuses');
  expect(operations[0].meansAlreadyApplied(answer.failure)).toBe(true);
});
