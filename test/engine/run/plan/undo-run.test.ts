import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { updateSoundboard } from '../../../../jobs/update-soundboard.ts';
import { requestDigest } from '../../../../src/engine/operation/shown-request.ts';
import { type UndoInput, writeUndoRows } from '../../../../src/engine/run/plan/undo-run.ts';
import { readCsv } from '../../../helpers/run-folder.ts';
import { listsOf } from '../../list/listed-in-memory.ts';
import { leastOptions } from '../planned-record.ts';
import { type Cells, endedRun, rowsIn } from './ended-run.ts';

/** The undo of a run of these rows. */
async function undone(
  given: readonly Cells[],
  how: Parameters<typeof endedRun>[1] = {},
  comparison: Pick<UndoInput, 'lists' | 'overwrite'> = {},
) {
  const { store, record } = await endedRun(given, how);
  const path = join(store.stateDir, 'undo.jsonl');
  const undo = await writeUndoRows(store, record, [], { options: leastOptions, path, ...comparison });
  const rows = await rowsIn(path);
  const folder = store.folder(record.id);
  const titles = undo.head.columns.map(({ title }) => title);
  return {
    store,
    record,
    undo,
    rows,
    head: undo.head,
    /** What a report shows. */
    cells: rows.map(({ row, cells }) => ({
      row,
      ...Object.fromEntries(cells.flatMap((text, at) => (text === null ? [] : [[titles[at], text]]))),
    })),
    notUndone: await readCsv(folder, 'not-undone.csv'),
    byHand: await readCsv(folder, 'undo-by-hand.csv'),
  };
}

const board = (id: number, cells: Cells): Cells => ({ soundboard_id: id, ...cells });
const operation = 'update-soundboard';

test('restores the fields that a row sent and whose old values it has, with the sent values as old values', async () => {
  const { cells, rows, head, record, notUndone } = await undone([
    board(1, { title: 'new', file_size: 5, old_title: 'was "ü"\n', old_file_size: '9223372036854775807' }),
    board(2, { title: 'new', old_title: '', old_description: 'not sent' }),
  ]);
  expect(cells).toEqual([
    {
      row: 1,
      operation,
      soundboard_id: '1',
      title: 'was "ü"\n',
      file_size: '9223372036854775807',
      old_title: 'new',
      old_file_size: '5',
    },
    { row: 2, operation, soundboard_id: '2', title: '', old_title: 'new' },
  ]);
  expect(rows[0]).toMatchObject({
    kind: 'callable',
    line: 1,
    subject: '1',
    values: { soundboard_id: '1', title: 'was "ü"\n', file_size: '9223372036854775807' },
    old: { title: 'new', file_size: '5' },
    requestDigest: requestDigest(
      updateSoundboard.request({ soundboard_id: '1', title: 'was "ü"\n', file_size: '9223372036854775807' }),
    ),
  });
  expect(head).toMatchObject({
    source: { name: `undo of ${record.id}`, ...record.rows },
    derived: { as: 'undo', of: record.id },
    counts: { rows: 2, callable: 2 },
  });
  expect(notUndone).toEqual([]);
});

test('of several edits of an entry, the earliest old value of each field counts', async () => {
  const { cells, notUndone } = await undone([
    board(1, { title: 'b', old_title: 'a' }),
    board(2, { title: 'z', old_title: 'y' }),
    board(1, { title: 'c', description: 'e', old_title: 'b', old_description: 'd' }),
    board(1, { title: 'd', file_name: 'f', old_title: 'c' }),
    board(1, { file_name: 'g', old_file_name: 'f' }),
  ]);
  expect(cells).toEqual([
    { row: 2, operation, soundboard_id: '2', title: 'y', old_title: 'z' },
    {
      row: 1,
      operation,
      soundboard_id: '1',
      title: 'a',
      description: 'd',
      old_title: 'd',
      old_description: 'e',
    },
  ]);
  // The value before the first row that sent it is unknown.
  expect(notUndone).toMatchObject([{ _row: '1', id: '1', fields: 'file_name' }]);
});

test('of superseded rows, the first old value of the entry counts', async () => {
  const { cells, notUndone } = await undone(
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
    { onConflict: 'last', others: { 7: { outcome: 'failed', code: 'NOT_FOUND' } } },
  );
  expect(cells).toEqual([
    {
      row: 3,
      operation,
      soundboard_id: '101',
      title: 'Recording 101',
      description: '',
      old_title: 'A',
      old_description: 'd',
    },
  ]);
  expect(notUndone).toMatchObject([{ _row: '5', id: '102', fields: 'title' }]);
});

test('takes rows that succeeded or are unclear, and lists those without old values', async () => {
  const { cells, notUndone, byHand } = await undone(
    [
      board(1, { title: 'n', old_title: 'o' }),
      board(2, { title: 'n', old_title: 'o' }),
      board(3, { title: 'n', old_title: 'o' }),
      board(4, { title: 'n' }),
      { evaluation_id: 5, user_id: 'u', operation: 'restore-evaluation' },
    ].map((row) => ({ operation, ...row })),
    {
      others: {
        1: { outcome: 'failed', code: 'NOT_FOUND' },
        2: { outcome: 'failed', code: 'UNAVAILABLE', unclear: true },
        5: { unclear: true },
      },
    },
  );
  expect(cells).toMatchObject([{ soundboard_id: '2' }, { soundboard_id: '3' }]);
  expect(notUndone).toEqual([{ _row: '4', operation, id: '4', fields: 'title', why: 'no old values' }]);
  expect(byHand).toEqual([{ _row: '5', operation: 'restore-evaluation', id: '5', unclear: 'yes' }]);
});

describe('of a run that was compared', () => {
  const entry = (fields: Readonly<Record<string, string>>) => ({
    fields: { title: 'Old', description: 'd', file_size: '5', ...fields },
  });
  const listing = (fields: Readonly<Record<string, string>>) =>
    listsOf([[updateSoundboard, { 1: entry(fields) }]]);
  const renaming = [board(1, { title: 'New' })];
  const original = () => listing({});

  test('the whole entry is put back as it was', async () => {
    const { rows, notUndone } = await undone(renaming, { lists: await original() });
    const values = { soundboard_id: '1', title: 'Old', description: 'd', file_size: '5' };
    expect(rows).toMatchObject([{ kind: 'callable', values, old: { title: 'New' } }]);
    expect(notUndone).toEqual([]);
  });

  test.each<{
    readonly since: string;
    readonly fields: Readonly<Record<string, string>>;
    readonly undo: object;
    readonly why?: string;
  }>([
    {
      since: 'nothing',
      fields: { title: 'New' },
      undo: { kind: 'callable', values: { title: 'Old', description: 'd' }, old: { title: 'New' } },
    },
    {
      since: 'it was put back by hand',
      fields: { title: 'Old' },
      undo: { kind: 'left out', because: { why: 'as wanted' } },
    },
    {
      since: 'a user changed the same field',
      fields: { title: 'Theirs' },
      undo: { kind: 'callable', values: { title: 'Old' }, old: { title: 'Theirs' } },
      why: 'changed since the run: title is "Theirs" now (--overwrite puts back only what the run changed: title)',
    },
    {
      since: 'a user changed another field',
      fields: { title: 'New', description: 'Theirs' },
      undo: { kind: 'callable', values: { title: 'Old', description: 'Theirs' }, old: { title: 'New' } },
      why: 'changed since the run: description is "Theirs" now (--overwrite puts back only what the run changed: title)',
    },
  ])('a comparison shows what has happened since: $since', async ({ fields, undo, why }) => {
    const lists = await listing(fields);
    const usual = await undone(renaming, { lists: await original() }, { lists });
    expect(usual.rows).toMatchObject(why === undefined ? [undo] : []);
    expect(usual.notUndone.map((row) => row['why'])).toEqual(why === undefined ? [] : [why]);
    const overwriting = await undone(renaming, { lists: await original() }, { lists, overwrite: true });
    expect(overwriting.rows).toMatchObject([undo]);
    expect(overwriting.notUndone).toEqual([]);
  });

  test('an entry that is gone is not put back', async () => {
    const lists = await listsOf([[updateSoundboard, {}]]);
    const { rows, notUndone } = await undone(
      renaming,
      { lists: await original() },
      { lists, overwrite: true },
    );
    expect(rows).toEqual([]);
    expect(notUndone).toMatchObject([{ id: '1', why: 'does not exist' }]);
  });
});

test('a comparison completes the undo of a run that was not compared', async () => {
  const listed = { fields: { title: 'New', description: 'd', file_size: '5' } };
  const lists = await listsOf([[updateSoundboard, { 1: listed }]]);
  const { rows } = await undone([board(1, { title: 'New', old_title: 'Old' })], {}, { lists });
  const values = { soundboard_id: '1', title: 'Old', description: 'd', file_size: '5' };
  expect(rows).toMatchObject([{ kind: 'callable', compared: true, values }]);
});
