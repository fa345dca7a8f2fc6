import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { DoneRows } from '../../../../src/engine/manifest/check/call-index.ts';

const subject = { operation: 'update-soundboard', subject: '41' };
type Ended = Pick<RowResult, 'outcome' | 'code'>;
const succeeded: Ended = { outcome: 'succeeded', code: 'OK' };
const doneBefore: Ended = { outcome: 'skipped', code: 'DONE_BEFORE' };
const superseded: Ended = { outcome: 'skipped', code: 'SUPERSEDED' };
const failed: Ended = { outcome: 'failed', code: 'NOT_FOUND' };
const duplicate: Ended = { outcome: 'duplicate', code: 'DUPLICATE' };
const neverCalled: Ended = { outcome: 'not_attempted', code: 'CANCELLED' };

/** The results of one subject in each source, row by row. */
function found(...sources: readonly (readonly Ended[])[]) {
  const done = new DoneRows();
  for (const [at, ended] of sources.entries()) {
    done.begin(`run ${at}`);
    for (const [row, each] of ended.entries()) done.note(subject, row + 1, each);
  }
  return done.find(subject);
}

test.each<[string, readonly (readonly Ended[])[], ReturnType<typeof found>]>([
  ['succeeded in one run, whatever another did', [[succeeded], [failed]], { source: 'run 0', row: 1 }],
  ['failed in one run, and succeeded in another', [[failed], [succeeded]], { source: 'run 1', row: 1 }],
])('a row that %s is reported as such', (_title, sources, expected) => {
  expect(found(...sources)).toEqual(expected);
});

test('agrees with a plain map for any rows of one run', () => {
  const row = fc.record({
    operation: fc.constantFrom('a', 'b'),
    subject: fc.constantFrom('1', '2', '3'),
    ended: fc.constantFrom(succeeded, doneBefore, superseded, failed, duplicate, neverCalled),
  });
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const done = new DoneRows();
      done.begin('r');
      const last = new Map<string, { row: number; isDone: boolean }>();
      for (const [at, { ended, ...each }] of rows.entries()) {
        done.note(each, at + 1, ended);
        if ([duplicate, superseded].includes(ended)) continue;
        const isDone = [succeeded, doneBefore].includes(ended);
        last.set(JSON.stringify(each), { row: at + 1, isDone });
      }
      for (const operation of ['a', 'b']) {
        for (const each of ['1', '2', '3'].map((id) => ({ operation, subject: id }))) {
          const expected = last.get(JSON.stringify(each));
          expect(done.find(each)).toEqual(expected?.isDone ? { source: 'r', row: expected.row } : undefined);
        }
      }
    }),
  );
});
