import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import type { RowResult } from '../../../src/domain.ts';
import { createRun } from '../../../src/run/plan/create-run.ts';
import { rowsOn, writeUndoManifest } from '../../../src/run/plan/undo-run.ts';
import type { RunRecord } from '../../../src/run/record/record.ts';
import { openRunStore } from '../../../src/run/record/store.ts';
import { readCsv } from '../../helpers/run-folder.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { resultOf } from '../../journal/arbitraries.ts';
import { leastOptions } from '../planned-record.ts';

type Cells = Readonly<Record<string, unknown>>;

/** The undo of a run of these rows; rows that are not in `others` have succeeded. */
async function undone(rows: readonly Cells[], others: Readonly<Record<number, Partial<RowResult>>> = {}) {
  const stateDir = await temporaryFolder();
  const source = join(stateDir, 'rows.jsonl');
  await writeFile(source, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const store = openRunStore(stateDir, operations);
  const options = { ...leastOptions, onConflict: 'in-order' as const };
  const { record: planned, journal } = await createRun(store, { source, options });
  const results = rows.map((_, index) => {
    const row = index + 1;
    return resultOf(row, {
      operation: 'update-soundboard',
      finishedAt: '2026-01-01T00:00:00.000Z',
      ...others[row],
    });
  });
  await journal.append(results.map((result) => ({ type: 'row', result })));
  await journal.close();
  const record: RunRecord = { ...planned, state: 'completed' };
  await store.save(record);
  const path = join(stateDir, 'undo.jsonl');
  const manifest = await writeUndoManifest(store, record, [], path);
  const text = await readFile(path, 'utf8');
  const folder = store.folder(record.id);
  return {
    ...{ store, record, manifest },
    rows: text
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Cells),
    notUndone: await readCsv(folder, 'not-undone.csv'),
    byHand: await readCsv(folder, 'undo-by-hand.csv'),
  };
}

const board = (id: number, cells: Cells): Cells => ({ soundboard_id: id, ...cells });
const operation = 'update-soundboard';

test('restores the fields that a row sent and whose old values it has, with the sent values as old values', async () => {
  const { rows, manifest, notUndone } = await undone([
    board(1, { title: 'new', file_size: 5, old_title: 'was "ü"\n', old_file_size: '9223372036854775807' }),
    board(2, { title: 'new', old_title: '', old_description: 'not sent' }),
  ]);
  expect(rows).toEqual([
    {
      ...{ operation, soundboard_id: '1', title: 'was "ü"\n', file_size: '9223372036854775807' },
      ...{ old_title: 'new', old_file_size: '5' },
    },
    { operation, soundboard_id: '2', title: '', old_title: 'new' },
  ]);
  expect(manifest.rowNumbers).toEqual([1, 2]);
  expect(notUndone).toEqual([]);
});

test('of several edits of an entry, the earliest old value of each field counts', async () => {
  const { rows, manifest, notUndone } = await undone([
    board(1, { title: 'b', old_title: 'a' }),
    board(2, { title: 'z', old_title: 'y' }),
    board(1, { title: 'c', description: 'e', old_title: 'b', old_description: 'd' }),
    board(1, { title: 'd', file_name: 'f', old_title: 'c' }),
    board(1, { file_name: 'g', old_file_name: 'f' }),
  ]);
  expect(rows).toEqual([
    { operation, soundboard_id: '2', title: 'y', old_title: 'z' },
    { operation, soundboard_id: '1', title: 'a', description: 'd', old_title: 'd', old_description: 'e' },
  ]);
  expect(manifest.rowNumbers).toEqual([2, 1]);
  // The value before the first row that sent it is unknown.
  expect(notUndone).toMatchObject([{ _row: '1', id: '1', fields: 'file_name' }]);
});

test('of superseded rows, the first old value of the entry counts', async () => {
  const superseded = { outcome: 'skipped', code: 'SUPERSEDED' } as const;
  const { rows, manifest, notUndone } = await undone(
    [
      board(101, { title: 'A', old_title: 'Recording 101' }),
      board(101, { title: 'B', file_name: 'x', old_title: 'Recording 101', old_file_name: 'y' }),
      board(101, { title: 'A', description: 'd', old_title: 'B', old_description: '' }),
      // The value before the omitted row is unknown.
      board(102, { title: 'A' }),
      board(102, { title: 'B', old_title: 'A' }),
      board(103, { title: 'A', old_title: 'was' }),
      board(103, { title: 'B', old_title: 'A' }),
    ],
    {
      1: superseded,
      2: superseded,
      4: superseded,
      6: superseded,
      7: { outcome: 'failed', code: 'NOT_FOUND' },
    },
  );
  expect(rows).toEqual([
    {
      ...{ operation, soundboard_id: '101', title: 'Recording 101', description: '' },
      ...{ old_title: 'A', old_description: 'd' },
    },
  ]);
  expect(manifest.rowNumbers).toEqual([3]);
  expect(notUndone).toMatchObject([{ _row: '5', id: '102', fields: 'title' }]);
});

test('takes rows that succeeded or are unclear, and lists those without old values', async () => {
  const { rows, notUndone, byHand } = await undone(
    [
      board(1, { title: 'n', old_title: 'o' }),
      board(2, { title: 'n', old_title: 'o' }),
      board(3, { title: 'n', old_title: 'o' }),
      board(4, { title: 'n' }),
      { evaluation_id: 5, user_id: 'u', operation: 'restore-evaluation' },
    ].map((row) => ({ operation, ...row })),
    {
      1: { outcome: 'failed', code: 'NOT_FOUND' },
      2: { outcome: 'failed', code: 'UNAVAILABLE', unclear: true },
      5: { operation: 'restore-evaluation', unclear: true },
    },
  );
  expect(rows.map(({ soundboard_id: id }) => id)).toEqual(['2', '3']);
  expect(notUndone).toEqual([{ _row: '4', operation, id: '4', fields: 'title', why: 'no old values' }]);
  expect(byHand).toEqual([{ _row: '5', operation: 'restore-evaluation', id: '5', unclear: 'yes' }]);
});

test('finds the rows of a run that act on restored entries', async () => {
  const { store, record, manifest } = await undone([
    board(1, { title: 'b', old_title: 'a' }),
    board(1, { title: 'c', old_title: 'b' }),
    board(2, { title: 'c' }),
  ]);
  expect(await rowsOn(store, record, manifest.subjects)).toBe(2);
});
