import fc from 'fast-check';
import type { AttemptHistory, RowResult } from '../../../src/domain/row-result.ts';
import { outcomes } from '../../../src/domain/terms.ts';
import type { JournalEntry } from '../../../src/engine/journal/line.ts';
import { anyCharacter } from '../../any-character.ts';

/** Any text: NUL, line ends, lone surrogates, invisible characters. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(...['\ud800', '\udfff'], ...'\0\n\r\u2028\u0085\ufffd😀"\\=a') }),
);

const time = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const earlier = fc.array(
  fc.record(
    {
      at: time,
      durationMs: fc.nat(),
      code: anyText,
      message: anyText,
      httpStatus: fc.integer({ min: 100, max: 599 }),
      requests: fc.nat(),
      omitted: fc.nat(),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  { maxLength: 3 },
);

/** A result of one of the rows 1 to `maxRow`. */
export function anyResult(maxRow = 2 ** 40): fc.Arbitrary<RowResult> {
  const required = {
    row: fc.integer({ min: 1, max: maxRow }),
    operation: anyText,
    outcome: fc.constantFrom(...outcomes),
    code: anyText,
    message: anyText,
    attempts: fc.nat(),
    unclear: fc.boolean(),
  };
  const optional = {
    httpStatus: fc.integer({ min: 100, max: 599 }),
    startedAt: time,
    finishedAt: time,
    durationMs: fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs),
    columns: fc.dictionary(anyText, anyText, { noNullPrototype: true }),
    earlier,
  };
  return fc.record(
    { ...required, ...optional },
    {
      requiredKeys: ['row', 'operation', 'outcome', 'code', 'message', 'attempts', 'unclear'],
      noNullPrototype: true,
    },
  );
}

const singledOut = fc.record({ refusals: fc.nat(), others: fc.nat() }, { noNullPrototype: true });

export const anyHistory: fc.Arbitrary<AttemptHistory> = fc.record(
  {
    attempts: fc.nat(),
    unprocessed: fc.nat(),
    unclear: fc.boolean(),
    singledOut,
    failedAlone: singledOut,
    startedAt: time,
    lastCode: anyText,
    lastMessage: anyText,
    lastStatus: fc.integer({ min: 100, max: 599 }),
    earlier,
  },
  { requiredKeys: ['attempts', 'unprocessed', 'unclear'], noNullPrototype: true },
);

/** An entry about the rows 1 to `maxRow`. */
export function anyEntry(maxRow = 2 ** 40): fc.Arbitrary<JournalEntry> {
  const row = fc.integer({ min: 1, max: maxRow });
  return fc.oneof(
    anyResult(maxRow).map((result) => ({ type: 'row' as const, result })),
    fc
      .tuple(row, fc.nat(9), fc.string())
      .map(([first, more, batch]) => ({ type: 'fed' as const, first, last: first + more, batch })),
    fc
      .tuple(row, fc.string(), fc.string())
      .map(([first, batch, to]) => ({ type: 'fed' as const, first, last: first, batch, to })),
    fc.tuple(row, fc.nat(9)).map(([first, more]) => ({ type: 'added' as const, first, last: first + more })),
    fc
      .tuple(row, fc.nat(9))
      .map(([first, more]) => ({ type: 'returned' as const, first, last: first + more })),
    fc.tuple(row, anyHistory).map(([open, history]) => ({ type: 'open' as const, row: open, history })),
    fc.constant({ type: 'settled' as const }),
    fc.constant({ type: 'accepted' as const }),
  );
}

/** A simple result of a row, for tests in which only the row matters. */
export function resultOf(row: number, more: Partial<RowResult> = {}): RowResult {
  return {
    row,
    operation: 'restore-evaluation',
    outcome: 'succeeded',
    code: 'OK',
    message: '',
    attempts: 1,
    unclear: false,
    ...more,
  };
}

/** The entry of a finished row. */
export function finished(
  row: number,
  more: Partial<RowResult> = {},
): JournalEntry & { readonly type: 'row' } {
  return { type: 'row', result: resultOf(row, more) };
}
