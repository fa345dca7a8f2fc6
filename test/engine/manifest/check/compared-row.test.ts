import { expect, test } from 'vitest';
import { restoreEvaluation } from '../../../../jobs/restore-evaluation.ts';
import { updateSoundboard } from '../../../../jobs/update-soundboard.ts';
import type { ConflictRule } from '../../../../src/domain/terms.ts';
import { ListComparer } from '../../../../src/engine/list/list-comparer.ts';
import { DoneRows } from '../../../../src/engine/manifest/check/call-index.ts';
import { type ScanOptions, scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { requestDigest } from '../../../../src/engine/operation/shown-request.ts';
import type { DecidedRow } from '../../../../src/engine/rows/row.ts';
import { listsOf } from '../../list/listed-in-memory.ts';
import { openText } from '../reading.ts';

const operations = [restoreEvaluation, updateSoundboard];
const titled = (title: string) => ({ fields: { title, file_size: '5', last_modified: 'yesterday' } });

/** Decides the rows of a CSV text, for a service with soundboards 1 to 3. */
async function compared(text: string, options: Omit<ScanOptions, 'comparer'> = {}, counts = {}) {
  const boards = { 1: titled('A'), 2: titled('B'), 3: titled('C') };
  const deleted = { 8: { fields: {} }, 9: { fields: {}, unfit: 'is not recoverable' } };
  const lists = await listsOf(
    [
      [updateSoundboard, boards],
      [restoreEvaluation, deleted],
    ],
    counts,
  );
  const manifest = await openText('a.csv', text);
  const prepare = createRowPreparer({ manifest, operations });
  const rows: DecidedRow[] = [];
  const comparer = new ListComparer(lists, operations, 'correct it');
  const onRow = (row: DecidedRow) => void rows.push(row);
  const scan = await scanManifest(manifest, prepare, { onRow }, { ...options, comparer });
  return { scan, rows };
}

test('a compared row has its whole entry, its old values, and the digest of the request that it makes', async () => {
  const { rows, scan } = await compared('soundboard_id,title\n1,X\n2,B\n');
  const values = { soundboard_id: '1', title: 'X', file_size: '5', last_modified: 'yesterday' };
  expect(rows).toMatchObject([
    {
      kind: 'callable',
      values,
      old: { title: 'A' },
      compared: true,
      requestDigest: requestDigest(updateSoundboard.request(values)),
    },
    { kind: 'left out', because: { why: 'as wanted' } },
  ]);
  expect(scan).toMatchObject({ callable: 1, asWanted: 1, partial: 0, invalid: 0 });
  expect(scan.perOperation['update-soundboard']?.fields).toMatchObject({
    title: { given: 1, absent: 0 },
    file_size: { given: 0, absent: 1 },
  });
});

test('a row without a fitting entry is invalid under the title of its column', async () => {
  const { rows } = await compared('"Evaluation ID",user_id\n8,u\n9,u\n7,u\n');
  const problem = (text: RegExp, value: string) => ({
    kind: 'invalid',
    problems: [{ column: 'Evaluation ID', problem: expect.stringMatching(text), value }],
  });
  expect(rows).toMatchObject([
    { kind: 'callable', compared: true },
    problem(/^is not recoverable$/, '9'),
    problem(/^is not deleted \(perhaps restored/, '7'),
  ]);
});

test('an old value that is not there is a conflict, which says what to do', async () => {
  const { rows } = await compared('soundboard_id,title,old_title\n1,X,Z\n2,X,B\n3,C,Z\n');
  expect(rows).toMatchObject([
    {
      kind: 'invalid',
      problems: [
        { column: 'old_title', problem: 'the entry is different: title is "A" now; correct it', value: 'Z' },
      ],
    },
    { kind: 'callable', old: { title: 'B' } },
    { kind: 'left out', because: { why: 'as wanted' } },
  ]);
});

test.each<{ readonly rule: ConflictRule; readonly kinds: readonly string[]; readonly conflicts: number }>([
  { rule: 'refuse', kinds: ['as wanted', 'callable', 'duplicate', 'callable'], conflicts: 2 },
  { rule: 'last', kinds: ['superseded', 'superseded', 'superseded', 'callable'], conflicts: 0 },
])('with the rule $rule, rows for one entry are compared by what they make of it', async (each) => {
  const { rows, scan } = await compared('soundboard_id,title\n1,A\n1,X\n1,X\n1,Y\n', {
    onConflict: each.rule,
  });
  expect(rows.map((row) => (row.kind === 'left out' ? row.because.why : row.kind))).toEqual(each.kinds);
  expect(scan.conflicts).toBe(each.conflicts);
});

test('the last row for an entry decides, even if it changes nothing', async () => {
  const { rows } = await compared('soundboard_id,title\n1,X\n1,A\n', { onConflict: 'last' });
  expect(rows).toMatchObject([
    { kind: 'left out', because: { why: 'superseded', by: 2 } },
    { kind: 'left out', because: { why: 'as wanted' } },
  ]);
});

test('what an earlier run has done is left out before it is compared: its entry may be gone from the list', async () => {
  const done = new DoneRows();
  done.begin('monday');
  const subject = { operation: 'restore-evaluation', subject: '7' };
  done.note(subject, 4, { outcome: 'succeeded', code: 'OK' });
  const { rows } = await compared('evaluation_id,user_id\n7,u\n', { done });
  expect(rows).toMatchObject([{ kind: 'left out', because: { why: 'done' } }]);
});

test('values that the service computes, and lists that are not sure, are warned of', async () => {
  const text = 'soundboard_id,title,last_modified\n1,X,2026-01-01T00:00:00Z\n2,X,yesterday\n';
  const { scan } = await compared(text, {}, { repeats: 2, unreadable: 1 });
  const messages = scan.warnings
    .filter(({ code }) => /LIST|COMPUTED/.test(code))
    .map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining([
      'last_modified of 1 row (first: row 1, line 2) is not what is there, and is not sent: the service sets it itself',
      expect.stringMatching(
        /^the list of soundboards has changed while it was read \(an entry was listed again 2 times\)/,
      ),
      '1 of the soundboards has no readable identifier: rows for them are invalid',
    ]),
  );
});
