import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallIndex, type DuplicateVerdict } from '../../../../src/engine/manifest/check/call-index.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

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

/** How many calls for other subjects come before: with 240, the entries are in two pages of 256, of which one is in memory. */
const others = fc.constantFrom(0, 240);

/** An index with one page in memory, after calls for other subjects. */
function indexAfter(calls: number, which: 'any' | 'latest', folder: string): CallIndex {
  const index = new CallIndex(which, { folder, pagesInMemory: 1 });
  for (let at = 0; at < calls; at++)
    index.add({ row: 0, line: 0, operation: 'other', subject: `${at}`, request: 'x' });
  return index;
}

test('a call stands for the following ones with the same request, until another request comes', async () => {
  const folder = await temporaryFolder();
  fc.assert(
    fc.property(calls, others, (all, before) => {
      const index = indexAfter(before, 'latest', folder);
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
      index.close();
    }),
    { numRuns: 200 },
  );
});

test('a call repeats any earlier one with the same request, and otherwise conflicts with the first of its subject', async () => {
  const folder = await temporaryFolder();
  fc.assert(
    fc.property(calls, others, (all, before) => {
      const index = indexAfter(before, 'any', folder);
      for (const [at, each] of all.entries()) {
        const earlier = all.slice(0, at).filter(isSameSubject(each));
        const same = earlier.find(({ request }) => request === each.request);
        const [first] = earlier;
        const expected = same ? duplicate(same) : first ? conflict(first) : { kind: 'new' };
        expect(index.add(each)).toEqual(expected);
      }
      expect(index.changedSubjects).toBe(0);
      index.close();
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
