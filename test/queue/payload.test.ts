import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Batch,
  type BatchReturn,
  decodeBatch,
  decodeLedgerEntry,
  decodeReturn,
  encodeBatch,
  encodeLedgerEntry,
  encodeReturn,
  type LedgerEntry,
  type RowTask,
} from '../../src/queue/payload.ts';
import { anyHistory, anyResult, anyText } from '../journal/arbitraries.ts';

const row = fc.integer({ min: 1 });
const anyTask: fc.Arbitrary<RowTask> = fc.record(
  {
    run: anyText,
    row,
    operation: anyText,
    subject: anyText,
    path: anyText,
    body: anyText,
    history: anyHistory,
    attemptsUsed: fc.nat(),
  },
  { requiredKeys: ['run', 'row', 'operation', 'subject', 'path', 'body'], noNullPrototype: true },
);
const anyAnswers = fc.array(
  fc.record(
    {
      row,
      at: anyText,
      status: fc.nat(),
      headers: fc.dictionary(anyText, anyText, { noNullPrototype: true }),
      body: anyText,
      cut: fc.constant(true as const),
    },
    { requiredKeys: ['row', 'at', 'status', 'headers', 'body'], noNullPrototype: true },
  ),
  { maxLength: 2 },
);
const anyBatch: fc.Arbitrary<Batch> = fc.record(
  {
    tasks: fc.array(anyTask, { maxLength: 3 }),
    policy: fc.record({ attempts: fc.nat(), backoffMs: fc.nat() }, { noNullPrototype: true }),
  },
  { noNullPrototype: true },
);
const anyReturn: fc.Arbitrary<BatchReturn> = fc.record(
  {
    results: fc.array(anyResult(), { maxLength: 3 }),
    answers: anyAnswers,
    leftovers: fc.array(
      fc.record(
        { row, history: anyHistory, attemptsUsed: fc.nat(), delayMs: fc.nat() },
        { requiredKeys: ['row', 'attemptsUsed', 'delayMs'], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['results', 'leftovers'], noNullPrototype: true },
);
const anyEntry: fc.Arbitrary<LedgerEntry> = fc.oneof(
  fc.constant({ type: 'withdraw' as const }),
  fc.record({ type: fc.constant('begin' as const), claim: row }, { noNullPrototype: true }),
  fc.record(
    {
      type: fc.constant('work' as const),
      claim: row,
      intents: fc.array(row, { maxLength: 3 }),
      results: fc.array(anyResult(), { maxLength: 3 }),
      answers: anyAnswers,
      unfinished: fc.array(
        fc.record({ row, history: anyHistory, attemptsUsed: fc.nat() }, { noNullPrototype: true }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['type', 'claim'], noNullPrototype: true },
  ),
);

const history = { attempts: 1, unprocessed: 0, unclear: true };
const task = { run: 'r', row: 1, operation: 'o', subject: 's', path: '/p', body: '{}', history };
const result = {
  row: 1,
  operation: 'o',
  outcome: 'succeeded',
  code: 'OK',
  message: '',
  attempts: 1,
  unclear: false,
  columns: { score: '87.5' },
};

const policy = { attempts: 5, backoffMs: 1_000 };
const taskData = (value: unknown) => ({ v: 3, text: JSON.stringify({ tasks: [value], policy }) });
const returned = (value: unknown) => JSON.stringify({ results: [value], leftovers: [] });

describe('a batch', () => {
  test('comes back as it was, whatever it says', () => {
    fc.assert(
      fc.property(anyBatch, (original) => {
        expect(decodeBatch(encodeBatch(original))).toEqual(original);
      }),
    );
  });

  test('goes through the datastore as text that PostgreSQL takes', () => {
    fc.assert(
      fc.property(anyBatch, (original) => {
        expect(encodeBatch(original).text).not.toMatch(/[\0\p{Cs}]/u);
      }),
    );
  });

  test.each<[string, unknown]>([
    ['another version', { v: 1, text: '{}' }],
    ['no version', {}],
    ['no text', { v: 3 }],
    ['an object for its text', { v: 3, text: {} }],
  ])('of %s is refused as UNKNOWN_PAYLOAD', (_, data) => {
    expect(() => decodeBatch(data)).toThrow(
      expect.objectContaining({ kind: 'fatal', code: 'UNKNOWN_PAYLOAD' }),
    );
  });

  test.each<[string, unknown]>([
    ['tasks', null],
    ['tasks', []],
    ['tasks', '{}'],
    ['run', { ...task, run: undefined }],
    ['run', { ...task, run: 1 }],
    ['row', { ...task, row: '1' }],
    ['operation', { ...task, operation: null }],
    ['subject', { ...task, subject: 5 }],
    ['path', { ...task, path: undefined }],
    ['body', { ...task, body: {} }],
    ['history', { ...task, history: null }],
    ['history', { ...task, history: [] }],
    ['attempts', { ...task, history: {} }],
    ['unprocessed', { ...task, history: { ...history, unprocessed: '0' } }],
    ['unclear', { ...task, history: { ...history, unclear: 'no' } }],
    ['startedAt', { ...task, history: { ...history, startedAt: null } }],
    ['lastCode', { ...task, history: { ...history, lastCode: 1 } }],
    ['lastMessage', { ...task, history: { ...history, lastMessage: {} } }],
    ['lastStatus', { ...task, history: { ...history, lastStatus: '500' } }],
  ])('with a malformed %s is refused: %j', (name, value) => {
    expect(() => decodeBatch(taskData(value))).toThrow(malformed(name));
  });

  test('whose text is cut off is refused', () => {
    expect(() => decodeBatch({ v: 3, text: '{"tasks":' })).toThrow(SyntaxError);
  });

  test('is read without what a later program may have added', () => {
    const added = { ...task, colour: 'red', history: { ...history, mood: 'good' } };
    expect(decodeBatch(taskData(added))).toEqual({ tasks: [task], policy });
  });
});

describe('what a batch has come to', () => {
  test('comes back as it was, from the JSON string and from its text', () => {
    fc.assert(
      fc.property(anyReturn, (original) => {
        const encoded = encodeReturn(original);
        expect(decodeReturn(encoded)).toEqual(original);
        expect(decodeReturn(JSON.stringify(encoded))).toEqual(original);
      }),
    );
  });

  test.each<[string, unknown]>([
    ['results', null],
    ['results', 5],
    ['results', []],
    ['row', { ...result, row: undefined }],
    ['row', { ...result, row: null }],
    ['operation', { ...result, operation: 1 }],
    ['outcome', { ...result, outcome: 'done' }],
    ['outcome', { ...result, outcome: undefined }],
    ['code', { ...result, code: 0 }],
    ['message', { ...result, message: null }],
    ['httpStatus', { ...result, httpStatus: '200' }],
    ['attempts', { ...result, attempts: '1' }],
    ['unprocessed', { ...result, unprocessed: false }],
    ['unclear', { ...result, unclear: 'no' }],
    ['startedAt', { ...result, startedAt: 0 }],
    ['finishedAt', { ...result, finishedAt: null }],
    ['durationMs', { ...result, durationMs: '5' }],
    ['duplicateOf', { ...result, duplicateOf: '7' }],
    ['columns', { ...result, columns: [] }],
    ['columns', { ...result, columns: 'score' }],
    ['columns', { ...result, columns: { score: 87.5 } }],
  ])('with a malformed %s is refused: %j', (name, value) => {
    expect(() => decodeReturn(returned(value))).toThrow(malformed(name));
    expect(() => decodeReturn(JSON.stringify(returned(value)))).toThrow(malformed(name));
  });

  test('with a number beyond all bounds is refused', () => {
    const text = returned(result).replace('"attempts":1', '"attempts":1e999');
    expect(() => decodeReturn(text)).toThrow(malformed('attempts'));
  });

  test.each(['', '{"row":', undefined])('that is no JSON is refused: %j', (value) => {
    expect(() => decodeReturn(value)).toThrow(SyntaxError);
  });

  test('is read without what a later program may have added', () => {
    expect(decodeReturn(returned({ ...result, colour: 'red' }))).toEqual({
      results: [result],
      leftovers: [],
    });
  });
});

test('an entry of a ledger comes back as it was, as text that PostgreSQL takes', () => {
  fc.assert(
    fc.property(anyEntry, (original) => {
      const text = encodeLedgerEntry(original);
      expect(text).not.toMatch(/[\0\p{Cs}]/u);
      expect(decodeLedgerEntry(text)).toEqual(original);
    }),
  );
});

function malformed(name: string): TypeError {
  return new TypeError(`Data of a row in the datastore are malformed: ${name}`);
}
