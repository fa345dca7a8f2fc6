import { describe, expect, test } from 'vitest';
import { guardCell } from '../../../src/base/text/formula-guard.ts';
import { type RefeedOptions, RefeedRows } from '../../../src/engine/report/refeed.ts';
import type { CellTexts } from '../../../src/engine/rows/row.ts';

type Column = RefeedOptions['columns'][number];

function refeed(columns: readonly Column[], defaults: RefeedOptions['defaults'] = {}): RefeedRows {
  return new RefeedRows({ columns: [...columns], clear_token: '<clear>', guard: guardCell, defaults });
}

/** The cells of a row by column name. */
function fed(rows: RefeedRows, cells: CellTexts, operation = 'update-soundboard') {
  const { cells: texts, isAltered } = rows.cells({ cells }, operation);
  return {
    ...Object.fromEntries(rows.header.map((title, index) => [title, texts[index]])),
    altered: isAltered,
  };
}

const soundboardId = { title: 'soundboard_id', field: 'soundboard_id' };

test('the operation column keeps its name and cells, and fills empty cells', () => {
  const rows = refeed([{ title: 'Operation', field: 'operation' }, soundboardId]);
  expect(rows.header).toEqual(['Operation', 'soundboard_id']);
  expect(fed(rows, ['Update Soundboard'])).toMatchObject({ Operation: 'Update Soundboard' });
  for (const cells of [[], [null], ['']])
    expect(fed(rows, cells)).toMatchObject({ Operation: 'update-soundboard' });
});

describe('a default', () => {
  test('fills only the cells that the row leaves out', () => {
    const rows = refeed([{ title: 'User ID', field: 'user_id' }], { user_id: '=jane' });
    expect(rows.header).toEqual(['User ID', 'operation']);
    expect(fed(rows, [])).toMatchObject({ 'User ID': "'=jane" });
    expect(fed(rows, [null])).toMatchObject({ 'User ID': "'=jane" });
    expect(fed(rows, [''])).toMatchObject({ 'User ID': '<clear>' });
    expect(fed(rows, ['joe'])).toMatchObject({ 'User ID': 'joe' });
  });

  test.each([
    ['', '<clear>'],
    ['<clear>', "'<clear>"],
  ])('reads back as it was: %j', (value, text) => {
    expect(fed(refeed([], { file_size: value }), [])).toMatchObject({ file_size: text });
  });
});

describe('several columns for one field', () => {
  const rows = refeed([
    { title: 'soundboardId', field: 'soundboard_id' },
    { title: 'note' },
    soundboardId,
    { title: 'Note' },
  ]);

  test('become one column, because CSV can have only one', () => {
    expect(rows.header).toEqual(['soundboardId', 'note', 'Note', 'operation']);
    expect(fed(rows, ['1'])).toMatchObject({ soundboardId: '1', altered: false });
    expect(fed(rows, [null, null, '2'])).toMatchObject({ soundboardId: '2', altered: false });
  });

  test('alter a row that fills more than one of them', () => {
    expect(fed(rows, ['1', null, '2'])).toMatchObject({ soundboardId: '1', altered: true });
  });
});

test('a column that --map has given a field is named like the field', () => {
  const rows = refeed([{ title: 'Nummer', field: 'soundboard_id' }, { title: 'Titre' }]);
  expect(rows.header).toEqual(['soundboard_id', 'Titre', 'operation']);
  expect(fed(rows, ['1', 'a'])).toMatchObject({ soundboard_id: '1', Titre: 'a' });
});

test('columns without a name are left out, and formulas in names are guarded', () => {
  const rows = refeed([{ title: '' }, { title: ' ' }, { title: '=cmd()' }]);
  expect(rows.header).toEqual(["'=cmd()", 'operation']);
  expect(fed(rows, ['a', 'b', 'c'])).toMatchObject({ "'=cmd()": 'c' });
});
