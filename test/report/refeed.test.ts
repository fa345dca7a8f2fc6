import { describe, expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { fieldNameOf, knownNames } from '../../src/manifest/columns/column-names.ts';
import { guardCell } from '../../src/manifest/formula-guard.ts';
import { type RefeedOptions, RefeedRows } from '../../src/report/refeed.ts';

function refeed(options: Partial<RefeedOptions>): RefeedRows {
  return new RefeedRows({
    columns: [],
    clearToken: '<clear>',
    guard: guardCell,
    defaults: new Map(),
    fieldOf: fieldNameOf,
    known: knownNames(operations),
    ...options,
  });
}

/** The cells of a row by column name. */
function fed(rows: RefeedRows, cells: Readonly<Record<string, unknown>>, operation = 'update-soundboard') {
  const { cells: texts, altered } = rows.cells({ row: 1, line: 2, cells }, operation);
  return { ...Object.fromEntries(rows.header.map((title, index) => [title, texts[index]])), altered };
}

describe('the operation column', () => {
  test('is added when the manifest has none', () => {
    const rows = refeed({ columns: ['soundboard_id'] });
    expect(rows.header).toEqual(['soundboard_id', 'operation']);
    expect(fed(rows, { soundboard_id: '1' })).toMatchObject({
      soundboard_id: '1',
      operation: 'update-soundboard',
    });
  });

  test('keeps its name and cells, and fills empty cells', () => {
    const rows = refeed({ columns: ['Operation', 'soundboard_id'] });
    expect(rows.header).toEqual(['Operation', 'soundboard_id']);
    expect(fed(rows, { Operation: 'Update Soundboard' })).toMatchObject({ Operation: 'Update Soundboard' });
    expect(fed(rows, {})).toMatchObject({ Operation: 'update-soundboard' });
    expect(fed(rows, { Operation: '' })).toMatchObject({ Operation: 'update-soundboard' });
  });

  test('stays empty when the operation is unknown', () => {
    expect(fed(refeed({}), {}, '')).toMatchObject({ operation: '' });
  });
});

describe('a default', () => {
  test('becomes a column when the manifest has none', () => {
    const rows = refeed({ columns: ['evaluation_id'], defaults: new Map([['user_id', 'jane']]) });
    expect(rows.header).toEqual(['evaluation_id', 'operation', 'user_id']);
    expect(fed(rows, { evaluation_id: '1' })).toMatchObject({ user_id: 'jane' });
  });

  test('fills only the cells that the row leaves out', () => {
    const rows = refeed({ columns: ['User ID'], defaults: new Map([['user_id', '=jane']]) });
    expect(rows.header).toEqual(['User ID', 'operation']);
    expect(fed(rows, {})).toMatchObject({ 'User ID': "'=jane" });
    expect(fed(rows, { 'User ID': null })).toMatchObject({ 'User ID': "'=jane" });
    expect(fed(rows, { 'User ID': '' })).toMatchObject({ 'User ID': '<clear>' });
    expect(fed(rows, { 'User ID': 'joe' })).toMatchObject({ 'User ID': 'joe' });
  });

  test.each([
    [9223372036854775807n, '9223372036854775807'],
    ['', '<clear>'],
    [null, ''],
  ])('may be any JSON value: %s', (value, text) => {
    expect(fed(refeed({ defaults: new Map([['file_size', value]]) }), {})).toMatchObject({ file_size: text });
  });
});

describe('several columns for one field', () => {
  const rows = refeed({ columns: ['soundboardId', 'note', 'soundboard_id', 'Note'] });

  test('become one column, because CSV can have only one', () => {
    expect(rows.header).toEqual(['soundboardId', 'note', 'Note', 'operation']);
    expect(fed(rows, { soundboardId: '1' })).toMatchObject({ soundboardId: '1', altered: false });
    expect(fed(rows, { soundboard_id: '2' })).toMatchObject({ soundboardId: '2', altered: false });
  });

  test('alter a row that fills more than one of them', () => {
    expect(fed(rows, { soundboardId: '1', soundboard_id: '2' })).toMatchObject({
      soundboardId: '1',
      altered: true,
    });
  });

  test('stay separate when the operations do not know the field', () => {
    expect(fed(rows, { note: 'a', Note: 'b' })).toMatchObject({ note: 'a', Note: 'b', altered: false });
  });
});

test('a row with a lone surrogate is altered', () => {
  const rows = refeed({ columns: ['title'] });
  expect(fed(rows, { title: 'a\ud800b' }).altered).toBe(true);
  expect(fed(rows, { title: 'a😀b' }).altered).toBe(false);
});

test('columns without a name are left out, and formulas in names are guarded', () => {
  expect(refeed({ columns: ['', ' ', '=cmd()'] }).header).toEqual(["'=cmd()", 'operation']);
});
