import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type CheckedRow,
  type JudgedRow,
  type RunCheck,
  readCheck,
  writeCheck,
} from '../../../src/engine/report/check-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const check: RunCheck = {
  check_version: 1,
  checked_at: '2026-11-16T10:00:00.000Z',
  runs: ['one', 'two'],
  counts: { as_wanted: 1, not_as_wanted: 1, gone: 0, overtaken: 0 },
  succeeded_not_as_wanted: 1,
  unclear: { rows: 1, done: 1, not_done: 0, unfinished: 0 },
  first: [{ row: 2, entry: 'call 8', check: 'not_as_wanted', there: '=1' }],
};

const rows: readonly CheckedRow[] = [
  {
    row: 1,
    operation: 'tag-call',
    subject: '7',
    outcome: 'failed',
    unclear: true,
    isUnfinished: false,
    check: 'as_wanted',
    there: '',
    open: true,
  },
  {
    row: 2,
    operation: 'tag-call',
    subject: '=8',
    outcome: 'succeeded',
    unclear: false,
    isUnfinished: false,
    check: 'not_as_wanted',
    there: '=1',
  },
];

async function* inParts(...parts: readonly (readonly CheckedRow[] | Error)[]) {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

const end = { delimiter: ',', end: () => check } as const;

test('a check is read as it was written, and a spreadsheet runs none of its cells', async () => {
  const folder = await temporaryFolder();
  const { path } = await writeCheck(folder, inParts(rows.slice(0, 1), rows.slice(1)), end);
  const judged: JudgedRow[] = [];
  expect(await readCheck(folder, (row) => judged.push(row))).toEqual(check);
  expect(judged).toEqual([
    { row: 1, check: 'as_wanted', there: '', open: true },
    { row: 2, check: 'not_as_wanted', there: '=1' },
  ]);
  expect(await readFile(path, 'utf8')).toBe(
    [
      '\ufeff_row,_operation,_identifier,_outcome,_unclear,_check,_there',
      '1,tag-call,7,failed,yes,as_wanted,',
      "2,tag-call,'=8,succeeded,,not_as_wanted,'=1",
      '',
    ].join('\n'),
  );
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
});

test('a check that fails leaves the last one', async () => {
  const folder = await temporaryFolder();
  await writeCheck(folder, inParts(rows), end);
  const before = await readFile(join(folder, 'check.csv'), 'utf8');
  const failing = inParts(rows.slice(0, 1), new Error('no answer'));
  await expect(writeCheck(folder, failing, end)).rejects.toThrow('no answer');
  expect(await readCheck(folder)).toEqual(check);
  expect(await readFile(join(folder, 'check.csv'), 'utf8')).toBe(before);
  expect((await readdir(folder)).toSorted()).toEqual(['check.csv', 'check.jsonl']);
});

test.each([
  { what: 'none', text: undefined },
  { what: 'an empty one', text: '' },
  { what: 'one without its end', text: '{"row":1,"check":"gone","there":""}\n' },
  { what: 'one of another version', text: `${JSON.stringify({ ...check, check_version: 2 })}\n` },
])('in place of a check there may be $what', async ({ text }) => {
  const folder = await temporaryFolder();
  if (text !== undefined) await writeFile(join(folder, 'check.jsonl'), text);
  expect(await readCheck(folder)).toBeUndefined();
});
