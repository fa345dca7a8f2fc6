import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeResult } from '../../../src/engine/journal/line.ts';
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
import { taskOf } from './tasks.ts';

const row = fc.integer({ min: 1 });
const fields = ['title', 'any "field",\n'] as const;
const anyPlanned = fc.record({
  row,
  subject: anyText,
  values: fc.record({ [fields[0]]: anyText, [fields[1]]: anyText }, { noNullPrototype: true }),
  requestDigest: anyText,
  op: fc.nat(2),
});
const anyTask: fc.Arbitrary<RowTask> = fc
  .tuple(
    anyPlanned,
    fc.record({ history: anyHistory, attemptsUsed: fc.nat() }, { requiredKeys: [], noNullPrototype: true }),
  )
  .map(([{ row: place, ...planned }, known]) => ({ ...taskOf(place, planned), ...known }));
const anyResults = fc.array(anyResult().map(encodeResult), { maxLength: 3 });
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
    run: anyText,
    tasks: fc.uniqueArray(anyTask, { maxLength: 3, selector: (task) => task.row }),
    policy: fc.record({ attempts: fc.nat(), backoffMs: fc.nat() }, { noNullPrototype: true }),
  },
  { noNullPrototype: true },
);
const anyReturn: fc.Arbitrary<BatchReturn> = fc.record(
  {
    results: anyResults,
    answers: anyAnswers,
    unfinishedRows: fc.array(
      fc.record(
        { row, history: anyHistory, attemptsUsed: fc.nat(), delayMs: fc.nat() },
        { requiredKeys: ['row', 'attemptsUsed', 'delayMs'], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['results', 'unfinishedRows'], noNullPrototype: true },
);
const anyEntry: fc.Arbitrary<LedgerEntry> = fc.oneof(
  fc.constant({ type: 'withdraw' as const }),
  fc.record({ type: fc.constant('begin' as const), claim: row }, { noNullPrototype: true }),
  fc.record(
    {
      type: fc.constant('work' as const),
      claim: row,
      intents: fc.array(row, { maxLength: 3 }),
      results: anyResults,
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
    ['no text', { v: 6 }],
    ['an object in place of its text', { v: 6, text: {} }],
  ])('of %s is refused as UNKNOWN_PAYLOAD', (_, data) => {
    expect(() => decodeBatch(data)).toThrow(
      expect.objectContaining({ kind: 'fatal', code: 'UNKNOWN_PAYLOAD' }),
    );
  });

  test('whose text is cut off is refused', () => {
    expect(() => decodeBatch({ v: 6, text: '{"run":' })).toThrow(SyntaxError);
  });
});

test.each(['', '\n{"row":1,"line":2,"op":7,"request":"","values":[]}'])(
  'a batch without a readable line of a row is refused: %j',
  (lines) => {
    const { v, text } = encodeBatch({ run: 'r', tasks: [taskOf(1)], policy: { attempts: 1, backoffMs: 0 } });
    expect(() => decodeBatch({ v, text: `${text.split('\n')[0]}${lines}` })).toThrow(SyntaxError);
  },
);

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

  test.each([
    ['of another version', '{"results":[],"unfinishedRows":[]}'],
    ['with a line that is no result', `${encodeReturn({ results: [], unfinishedRows: [] })}\n{"open":1}`],
  ])('%s is refused as UNKNOWN_PAYLOAD', (_, value) => {
    expect(() => decodeReturn(value)).toThrow(
      expect.objectContaining({ kind: 'fatal', code: 'UNKNOWN_PAYLOAD' }),
    );
  });

  test('has each result as the line that the journal gets', () => {
    fc.assert(
      fc.property(anyReturn, (original) => {
        const lines = original.results.map(({ line }) => line);
        expect(encodeReturn(original).split('\n').slice(1)).toEqual(lines);
      }),
    );
  });

  test.each(['', '{"row":', undefined])('that is not JSON is refused: %j', (value) => {
    expect(() => decodeReturn(value)).toThrow(SyntaxError);
  });
});

test('an entry of a ledger comes back unchanged, as text that PostgreSQL takes', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      // Without results, an entry has no list of them.
      const { results, ...others } = entry as LedgerEntry & { type: 'work' };
      const original = results?.length === 0 ? others : entry;
      const text = encodeLedgerEntry(original);
      expect(text).not.toMatch(/[\0\p{Cs}]/u);
      expect(decodeLedgerEntry(text)).toEqual(original);
    }),
  );
});
