import { describe, expect, expectTypeOf, test } from 'vitest';
import { entryReader, type InputOf, objectWriter, rowOfInput } from '../../jobs/typed-fields.ts';
import { parseJson } from '../../src/base/text/json.ts';

const fields = {
  call_id: { type: 'integer', min: 1, required: true },
  agent_user_id: { type: 'identifier' },
  call_type: { type: 'text', expects: ['INBOUND', 'OUTBOUND'] },
  ended_at: { type: 'text', expects: 'time' },
  talk_seconds: { type: 'integer' },
} as const;

test('an input has the required fields, and may have the others', () => {
  expectTypeOf<{ callId: bigint }>().toExtend<InputOf<typeof fields>>();
  expectTypeOf<{ callId: string; callType: 'NEW'; talkSeconds: 5 }>().toExtend<InputOf<typeof fields>>();
  expectTypeOf<{ talkSeconds: 5 }>().not.toExtend<InputOf<typeof fields>>();
  expectTypeOf<{ callId: 5; endedAt: 5 }>().not.toExtend<InputOf<typeof fields>>();
});

describe('the row of an input', () => {
  test('has canonical integers, and texts as they are', () => {
    const input = { talkSeconds: 0n, agentUserId: ' a ', callId: '007', endedAt: undefined };
    expect(rowOfInput(fields, input)).toEqual({ call_id: '7', agent_user_id: ' a ', talk_seconds: '0' });
  });

  test.each<[object, RegExp]>([
    [{}, /^callId must be an exact whole number from 1 to /],
    [{ callId: 0 }, /^callId must be an exact whole number from 1 to /],
    [{ callId: 5, talkSeconds: -1 }, /^talkSeconds must be an exact whole number from 0 to /],
    [{ callId: 5, agentUserId: 5 }, /^agentUserId must be text$/],
    [{ call_id: 5 }, /^call_id is not a field: use callId, agentUserId, callType, endedAt, talkSeconds$/],
  ])('does not exist for %o', (input, message) => {
    expect(() => rowOfInput(fields, input)).toThrow(message);
  });
});

test('an object has the values of a row in the order of the list; an integer that JavaScript rounds is text', () => {
  const write = objectWriter(fields);
  expect(write({ talk_seconds: '5', call_type: 'a"b', call_id: '9007199254740993' })).toBe(
    '{"call_id":"9007199254740993","call_type":"a\\"b","talk_seconds":5}',
  );
  expect(write({ ended_at: '' })).toBe('{"ended_at":""}');
});

test('an entry is read by both spellings; an identifier 0 and the zero time count as absent, a count of 0 does not', () => {
  const read = entryReader(fields);
  const text = '{"callId":"9007199254740993","call_type":"NEW","endedAt":"2026-01-02T03:04:05Z","x":1}';
  const entry = read(parseJson(text));
  expect(entry).toEqual({ callId: 9007199254740993n, callType: 'NEW', endedAt: '2026-01-02T03:04:05Z' });
  expectTypeOf(entry?.talkSeconds).toEqualTypeOf<bigint | undefined>();
  const zeros = read({ call_id: 0, ended_at: '0001-01-01T00:00:00Z', talk_seconds: 0 });
  expect(zeros).toEqual({ talkSeconds: 0n });
});
