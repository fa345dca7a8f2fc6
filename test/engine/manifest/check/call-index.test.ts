import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallIndex, type DuplicateVerdict } from '../../../../src/engine/manifest/check/call-index.ts';

const call = fc.record({
  operation: fc.constantFrom('a', 'b'),
  subject: fc.constantFrom('1', '2', '3', '1\u0000x'),
  request: fc.constantFrom('x', 'y', 'z'),
});

/** Calls as rows, each on its own line. */
const calls = fc
  .array(call, { maxLength: 40 })
  .map((all) => all.map((each, at) => ({ ...each, row: at + 1, line: 2 * at + 5 })));

type Call = Parameters<CallIndex['add']>[0];

const isSameSubject = (a: Call) => (b: Call) => a.operation === b.operation && a.subject === b.subject;
const conflict = ({ row, line }: Call): DuplicateVerdict => ({ kind: 'conflict', row, line });
const duplicate = ({ row }: Call): DuplicateVerdict => ({ kind: 'duplicate', row });

test('a call stands for the following ones with the same request, until another request comes', () => {
  fc.assert(
    fc.property(calls, (all) => {
      const index = new CallIndex('latest');
      /** The first of each stretch of equal requests for one subject. */
      const called: Call[] = [];
      for (const each of all) {
        const latest = called.findLast(isSameSubject(each));
        const isSame = latest?.request === each.request;
        const expected = !latest ? { kind: 'new' } : isSame ? duplicate(latest) : conflict(latest);
        expect(index.add(each)).toEqual(expected);
        if (!isSame) called.push(each);
      }
      const changed = called.filter((each) => called.filter(isSameSubject(each)).length > 1);
      expect(index.changedSubjects).toBe(
        new Set(changed.map(({ operation, subject }) => JSON.stringify([operation, subject]))).size,
      );
      for (const each of all) {
        const { row } = called.findLast(isSameSubject(each)) as Call;
        const kind = row === each.row ? 'new' : row > each.row ? 'superseded' : 'duplicate';
        expect(index.judge(each)).toEqual({ kind, ...(kind !== 'new' && { row }) });
      }
    }),
    { numRuns: 200 },
  );
});

describe.each(['any', 'latest'] as const)('an index of %s calls', (which) => {
  const make = () => {
    const index = new CallIndex(which);
    const add = (row: number, subject: number) =>
      index.add({ row, line: row, operation: 'a', subject: `${subject}`, request: 'x' });
    return add;
  };

  test('stays correct while it grows', () => {
    const add = make();
    const wrong: unknown[] = [];
    const check = (row: number, subject: number, expected: DuplicateVerdict): void => {
      const verdict = add(row, subject);
      if (!isDeepStrictEqual(verdict, expected)) wrong.push({ row, verdict });
    };
    const count = 50_000;
    for (let row = 1; row <= count; row++) check(row, row, { kind: 'new' });
    for (let row = 1; row <= count; row += 7) check(count + row, row, { kind: 'duplicate', row });
    expect(wrong).toEqual([]);
  });
});
