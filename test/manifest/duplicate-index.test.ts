import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DuplicateIndex } from '../../src/manifest/duplicate-index.ts';

const call = fc.record({
  operation: fc.constantFrom('a', 'b'),
  subject: fc.constantFrom('1', '2', '3', '1\u0000x'),
  request: fc.constantFrom('x', 'y', 'z'),
});

test('tells duplicates and conflicts like a plain map', () => {
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
      const index = new DuplicateIndex();
      const first = new Map<string, { row: number; request: string }>();
      const same = new Map<string, number>();
      for (const [at, each] of calls.entries()) {
        const row = at + 1;
        const subject = JSON.stringify([each.operation, each.subject]);
        const whole = JSON.stringify(each);
        const before = first.get(subject);
        const copy = same.get(whole);
        const expected =
          copy !== undefined
            ? { kind: 'duplicate', firstRow: copy }
            : before !== undefined
              ? { kind: 'conflict', firstRow: before.row }
              : { kind: 'new' };
        expect(index.add({ row, ...each })).toEqual(expected);
        if (before === undefined) first.set(subject, { row, request: each.request });
        if (copy === undefined) same.set(whole, row);
      }
    }),
    { numRuns: 1000 },
  );
});

test('stays right while it grows', () => {
  const index = new DuplicateIndex();
  const count = 50_000;
  for (let row = 1; row <= count; row++) {
    expect(index.add({ row, operation: 'a', subject: `${row}`, request: 'x' }).kind).toBe('new');
  }
  for (let row = 1; row <= count; row += 7) {
    const found = index.add({ row: count + row, operation: 'a', subject: `${row}`, request: 'x' });
    expect(found).toEqual({ kind: 'duplicate', firstRow: row });
  }
});

test('keeps row numbers up to 2^32 - 1', () => {
  const index = new DuplicateIndex();
  index.add({ row: 2 ** 32 - 1, operation: 'a', subject: '1', request: 'x' });
  expect(index.add({ row: 1, operation: 'a', subject: '1', request: 'x' })).toEqual({
    kind: 'duplicate',
    firstRow: 2 ** 32 - 1,
  });
});
