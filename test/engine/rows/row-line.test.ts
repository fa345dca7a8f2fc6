import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../../src/engine/operation/row-fields.ts';
import type { DecidedRow, OldValues, PlannedOperation, UnderstoodRow } from '../../../src/engine/rows/row.ts';
import {
  cutCallable,
  decodeCallable,
  decodeRow,
  encodeRow,
  operationIn,
} from '../../../src/engine/rows/row-line.ts';
import { anyText } from '../journal/arbitraries.ts';
import { callable, renaming } from './decided-rows.ts';

const deleting: PlannedOperation = {
  name: 'delete',
  thing: 'entry',
  subject: 'id',
  columns: [],
  mayReset: true,
  fields: [{ name: 'id', required: true, undoable: false }],
};

const operations: readonly PlannedOperation[] = [renaming, deleting];

const number = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const place = { row: number, line: number };
const plain = { noNullPrototype: true };

function understood(operation: PlannedOperation): fc.Arbitrary<UnderstoodRow> {
  const texts: Record<string, fc.Arbitrary<string>> = Object.fromEntries(
    operation.fields.map(({ name }) => [name, anyText]),
  );
  return fc
    .record({
      ...place,
      values: fc.record(texts, { requiredKeys: [operation.subject], ...plain }),
      old: fc.option(fc.record(texts, { requiredKeys: [], ...plain }), { nil: undefined }),
    })
    .map(({ row, line, values, old }) => ({
      row,
      line,
      operation,
      subject: values[operation.subject] ?? '',
      values: values as Row,
      ...(old !== undefined && { old: old as OldValues }),
    }));
}

const anyOperation = fc.constantFrom(renaming, deleting);

const anyCallable: fc.Arbitrary<DecidedRow> = anyOperation.chain((operation) =>
  fc.tuple(understood(operation), anyText, fc.boolean()).map(([row, requestDigest, unclear]) => ({
    ...row,
    kind: 'callable',
    requestDigest,
    ...(unclear && { unclear }),
  })),
);

const anyLeftOut: fc.Arbitrary<DecidedRow> = anyOperation.chain((operation) =>
  fc
    .tuple(
      understood(operation),
      fc.oneof(
        number.map((of) => ({ why: 'duplicate' as const, of })),
        number.map((by) => ({ why: 'superseded' as const, by })),
        fc
          .record({ source: anyText, row: number }, plain)
          .map((before) => ({ why: 'done' as const, before })),
      ),
    )
    .map(([row, because]) => ({ ...row, kind: 'left out', because })),
);

const anyInvalid: fc.Arbitrary<DecidedRow> = fc.record(
  {
    ...place,
    kind: fc.constant('invalid' as const),
    operation: anyOperation,
    problems: fc.array(
      fc.record(
        { column: anyText, problem: anyText, value: anyText, letters: anyText },
        { requiredKeys: ['problem'], ...plain },
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
  { requiredKeys: ['row', 'line', 'kind', 'problems'], ...plain },
);

const anyRow = fc.oneof(anyCallable, anyLeftOut, anyInvalid);
const anyCells = fc.array(fc.option(anyText), { maxLength: 4 });

/** The line of a row, as a file whose operations are these has it. */
function lineOf(row: DecidedRow, cells: readonly (string | null)[] = []): string {
  const index = operations.findIndex(({ name }) => name === row.operation?.name);
  return encodeRow(row, cells, index < 0 ? undefined : index);
}

test('any row is read as it was written, from one line of well-formed UTF-8', () => {
  fc.assert(
    fc.property(anyRow, anyCells, number, (row, cells, place) => {
      const line = lineOf(row, cells);
      expect(line).toMatch(/^[^\n\r\u0085\u2028\u2029]*\n$/);
      const read = Buffer.from(line).toString('utf8').slice(0, -1);
      expect(decodeRow(read, place, operations)).toStrictEqual({ ...row, place, cells });
    }),
    { numRuns: 500 },
  );
});

describe('the line of a row that is cut for workers', () => {
  const anyKey = fc.option(fc.constant('"0d6d7b2e-0000-4000-8000-000000000000"'), { nil: undefined });

  test('has what a call needs, and neither cells nor old values', () => {
    fc.assert(
      fc.property(anyCallable, anyKey, anyCells, (row, key, cells) => {
        if (row.kind !== 'callable') return;
        const planned = { ...row, ...(key !== undefined && { key }) };
        const cut = cutCallable(lineOf(planned, cells).trimEnd());
        const { subject, values, requestDigest, operation } = planned;
        expect(operations[cut?.op ?? -1]).toBe(operation);
        expect(operationIn(cut?.text ?? '')).toBe(cut?.op);
        expect(decodeCallable(cut?.text ?? '', operation)).toStrictEqual({
          subject,
          values,
          requestDigest,
          ...(key !== undefined && { key }),
        });
        expect(Object.keys(JSON.parse(cut?.text ?? ''))).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/^(cells|old)$/)]),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('ends before the cells, whatever texts look like cells', () => {
    const looks = ',"cells":["x"]}';
    const values = { id: looks, title: `",${looks}` };
    const row: DecidedRow = { ...callable, subject: looks, values, requestDigest: looks };
    const cut = cutCallable(lineOf({ ...row, old: { cells: 'x', title: looks } }, [looks]).trimEnd());
    expect(decodeCallable(cut?.text ?? '', renaming)).toMatchObject({ subject: looks, values });
  });

  test('is only that of a callable row, as this version writes it', () => {
    fc.assert(
      fc.property(fc.oneof(anyLeftOut, anyInvalid), anyCells, (row, cells) => {
        expect(cutCallable(lineOf(row, cells))).toBeUndefined();
      }),
    );
    const { op, ...others } = JSON.parse(lineOf(callable));
    expect(cutCallable(JSON.stringify({ ...others, op }))).toBeUndefined();
  });
});

const line = JSON.parse(lineOf(callable, ['7', null]));
const invalid = JSON.parse(
  lineOf({ kind: 'invalid', row: 1, line: 2, operation: renaming, problems: [{ problem: 'is bad' }] }),
);
const { requestDigest: _, ...given } = callable;
const leftOut = JSON.parse(lineOf({ ...given, kind: 'left out', because: { why: 'duplicate', of: 1 } }));

test('the lines that are changed below are rows', () => {
  for (const each of [line, invalid, leftOut])
    expect(decodeRow(JSON.stringify(each), 1, operations)).toBeDefined();
});

test.each<[what: string, text: string]>([
  ['nothing', ''],
  ['null', 'null'],
])('%s is no row', (_what, text) => {
  expect(decodeRow(text, 1, operations)).toBeUndefined();
});

test.each<[member: string, row: object, values: readonly unknown[]]>([
  ['row', line, [undefined, 0, '1', 1.5, 2 ** 53]],
  ['line', line, [undefined]],
  ['cells', line, [undefined, { id: '7' }, [7]]],
  // Of an operation that the head does not have.
  ['op', line, [undefined, 2, -1, 'rename']],
  ['op', invalid, [9]],
  ['values', line, [undefined, ['7'], ['7', 'A', 'B'], [7, 'A']]],
  ['old', line, [null, ['A'], { title: null }]],
  ['request', line, [undefined, { path: '/' }]],
  ['unclear', line, [false, 'yes']],
  ['problems', invalid, [[], 'is bad', [{ column: 'id' }], [{ problem: 'is bad', value: 7 }]]],
  ['not', leftOut, [null, { why: 'tired' }, { why: 'duplicate' }, { why: 'duplicate', of: 0 }]],
  ['not', leftOut, [{ why: 'superseded', of: 1 }, { why: 'done' }, { why: 'done', before: { row: 1 } }]],
])('a line whose "%s" is wrong is no row', (member, row, values) => {
  const decoded = values.map((value) =>
    decodeRow(JSON.stringify({ ...row, [member]: value }), 1, operations),
  );
  expect(decoded).toEqual(values.map(() => undefined));
});

test('no line has a request: a forged one in it is not read', () => {
  const forged = { ...line, method: 'DELETE', path: '/entries/1', body: '{}' };
  expect(decodeRow(JSON.stringify(forged), 1, operations)).toEqual({
    ...callable,
    place: 1,
    cells: ['7', null],
  });
});
