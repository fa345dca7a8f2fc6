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
} from '../../../src/engine/queue/payload.ts';
import { anyHistory, anyResult, anyText } from '../journal/arbitraries.ts';

const row = fc.integer({ min: 1 });
const anyTask: fc.Arbitrary<RowTask> = fc.record(
  {
    run: anyText,
    row,
    operation: anyText,
    subject: anyText,
    values: fc.dictionary(anyText, anyText, { noNullPrototype: true }),
    requestDigest: anyText,
    history: anyHistory,
    attemptsUsed: fc.nat(),
  },
  { requiredKeys: ['run', 'row', 'operation', 'subject', 'values', 'requestDigest'], noNullPrototype: true },
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

describe('a batch', () => {
  test('comes back unchanged, whatever it contains', () => {
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

  test.each<[string, object]>([
    ['another version', { v: 1, text: '{}' }],
    ['no version', {}],
    ['no text', { v: 3 }],
    ['an object in place of its text', { v: 5, text: {} }],
  ])('of %s is refused as UNKNOWN_PAYLOAD', (_, data) => {
    expect(() => decodeBatch(data)).toThrow(
      expect.objectContaining({ kind: 'fatal', code: 'UNKNOWN_PAYLOAD' }),
    );
  });

  test('whose text is cut off is refused', () => {
    expect(() => decodeBatch({ v: 5, text: '{"tasks":' })).toThrow(SyntaxError);
  });
});

describe('the outcome of a batch', () => {
  test('comes back unchanged, from the JSON string and from its text', () => {
    fc.assert(
      fc.property(anyReturn, (original) => {
        const encoded = encodeReturn(original);
        expect(decodeReturn(encoded)).toEqual(original);
        expect(decodeReturn(JSON.stringify(encoded))).toEqual(original);
      }),
    );
  });

  test.each(['', '{"row":', undefined])('that is not JSON is refused: %j', (value) => {
    expect(() => decodeReturn(value)).toThrow(SyntaxError);
  });
});

test('an entry of a ledger comes back unchanged, as text that PostgreSQL takes', () => {
  fc.assert(
    fc.property(anyEntry, (original) => {
      const text = encodeLedgerEntry(original);
      expect(text).not.toMatch(/[\0\p{Cs}]/u);
      expect(decodeLedgerEntry(text)).toEqual(original);
    }),
  );
});
