import { expect, test } from 'vitest';
import type { OpenOptions } from '../../../src/engine/manifest/manifest-format.ts';
import { allRows, cellsOf, failure, openText } from './reading.ts';

const csv = 'evaluation_id,note\n1,one\n2,two\n';
const objects = ['{"evaluation_id":"1","note":"one"}', '{"evaluation_id":"2","note":"two"}'];
const expected = [
  { row: 1, line: 2, cells: { evaluation_id: '1', note: 'one' } },
  { row: 2, line: 3, cells: { evaluation_id: '2', note: 'two' } },
];

test.each<[what: string, name: string, content: string, format: string, lines?: readonly number[]]>([
  ['tabs, called .csv', 'a.csv', csv.replaceAll(',', '\t'), 'tsv'],
  ['mixed line ends', 'a.csv', 'evaluation_id,note\r\n1,one\n2,two\r', 'csv'],
  ['rows of nothing but delimiters at the end', 'a.csv', `${csv},\r\n,,\n"",\n`, 'csv'],
  ['an array on several lines', 'a.jsonl', ` [\r\n${objects.join(',\r\n\r\n')}\n]\n`, 'json', [2, 4]],
  ['JSON Lines with blank lines', 'a.jsonl', `\ufeff\r\n${objects.join('\r\n \r\n')}\r\n`, 'jsonl', [2, 4]],
])('recognizes the format by the content, and reads %s', async (_what, name, content, format, lines) => {
  for (const each of [name, `${name}.gz`]) {
    const manifest = await openText(each, content);
    expect(manifest).toMatchObject({ name: each, format });
    expect(await allRows(manifest)).toEqual(
      expected.map((row, index) => ({ ...row, line: lines?.[index] ?? row.line })),
    );
  }
});

test.each([
  ['tsv', 'a.tsv', 'id\n1\n'],
  ['csv', 'a.csv', 'id\n1\n'],
  ['jsonl', 'a.json', '{"id":1}'],
])('takes one column for %s in %s', async (format, name, content) => {
  expect((await openText(name, content)).format).toBe(format);
});

test('takes operation and defaults from an object, in any order', async () => {
  const manifest = await openText(
    'a.json',
    '{"rows":[{"id":1}],"defaults":{"User ID":"u","evaluation_id":null},"operation":"restore-evaluation"}',
  );
  expect(manifest.operation).toBe('restore-evaluation');
  expect(manifest.defaults).toEqual({ user_id: 'u' });
  expect(await allRows(manifest)).toEqual([{ row: 1, line: 1, cells: { id: 1 } }]);
});

test('a row of JSON Lines may have a column called rows', async () => {
  expect(await cellsOf('a.jsonl', '{"rows":[1]}\n{"rows":[2]}')).toEqual([{ rows: [1] }, { rows: [2] }]);
});

test('an empty cell is left out, the clear token is the empty string', async () => {
  const content = 'id,title,note\n1,,<clear>\n2,"<clear>",""\n3,<CLEAR>, \n4," <clear>\t", x \n';
  const read = await cellsOf('a.csv', content);
  expect(read.slice(0, 2)).toEqual([
    { id: '1', note: '' },
    { id: '2', title: '' },
  ]);
  expect(read.slice(2)).toEqual([
    { id: '3', title: '<CLEAR>', note: ' ' },
    { id: '4', title: ' <clear>\t', note: ' x ' },
  ]);
  const trimmed = await cellsOf('a.csv', content, { trim: true });
  expect(trimmed.slice(2)).toEqual([
    { id: '3', title: '<CLEAR>' },
    { id: '4', title: '', note: 'x' },
  ]);
});

test('the clear token can be changed, also to one with blanks, and means nothing in JSON', async () => {
  const clearToken = ' x ';
  expect(await cellsOf('a.csv', 'id,t\n x ,<clear>\n', { clearToken, trim: true })).toEqual([
    { id: '', t: '<clear>' },
  ]);
  expect(await cellsOf('a.json', '[{"t":" x ","u":""}]', { clearToken })).toEqual([{ t: ' x ', u: '' }]);
  for (const content of ['[{"t":" x "},{"t":1}]', '{"t":" x "}\n{"t":1}'])
    expect(await cellsOf('a.json', content, { trim: true })).toEqual([{ t: 'x' }, { t: 1 }]);
});

test('the clear token and the path to rows are found however their accents are encoded', async () => {
  const clearToken = '<löschen>';
  for (const form of ['NFC', 'NFD']) {
    const given = { clearToken: clearToken.normalize(form), rowsAt: 'größe'.normalize(form) };
    for (const written of ['NFC', 'NFD']) {
      const csv = `id,t\n1,${clearToken}\n`.normalize(written);
      expect(await cellsOf('a.csv', csv, { clearToken: given.clearToken })).toEqual([{ id: '1', t: '' }]);
      const json = '{"größe":[{"t":1}]}'.normalize(written);
      expect(await cellsOf('a.json', json, { rowsAt: given.rowsAt })).toEqual([{ t: 1 }]);
    }
  }
});

test.each(['[a]', '{a}', '<a>'])('a header of delimited text may begin with %s', async (name) => {
  expect((await openText('a.csv', `${name},b\n1,2\n`)).columns()).toEqual([name, 'b']);
});

test('a first column named like a number is a header in a file that a report wrote', async () => {
  expect((await openText('a.csv', '1,b,_guarded\n1,2,yes\n')).columns()).toEqual(['1', 'b']);
});

test('rows marked as guarded lose their guard, others keep every apostrophe', async () => {
  const cells = ["'=cmd(),yes", "'=cmd(),", "'<clear>,yes", '<clear>,yes', "'quoted',yes"];
  const manifest = await openText(
    'a.csv',
    `id,"'=title",_guarded\n${cells.map((each) => `1,${each}\n`).join('')}`,
  );
  expect(manifest.columns()).toEqual(['id', '=title']);
  const titles = (await allRows(manifest)).map((row) => row.cells['=title']);
  expect(titles).toEqual(['=cmd()', "'=cmd()", '<clear>', '', "'quoted'"]);
});

test("the tool's own columns are left out, so that a report can be fed back", async () => {
  const manifest = await openText('a.csv', '_row,id,_outcome,__proto__,note\n1,2,failed,x,n\n');
  expect(manifest.columns()).toEqual(['id', 'note']);
  expect(await allRows(manifest)).toEqual([{ row: 1, line: 2, cells: { id: '2', note: 'n' } }]);
  const json = await openText('a.json', '[{"_row":1,"id":2,"__proto__":{"x":1}}]');
  expect(await allRows(json)).toEqual([{ row: 1, line: 1, cells: { id: 2 } }]);
  expect(json.columns()).toEqual(['id']);
});

test.each(['id\n1\n', '[{"id":1}]'])(
  'an absent column is undefined, whatever its name: %j',
  async (content) => {
    for await (const [row] of (await openText('a', content)).rows())
      for (const name of ['constructor', 'toString', 'valueOf']) expect(row?.cells[name]).toBeUndefined();
  },
);

test('a column without a name is ignored as long as it is empty', async () => {
  const problem = 'text in column 4, which has no name; name the column or clear the cell';
  expect(await allRows(await openText('a.csv', 'id,note,, \n1,a,,\n2,b,,stray\n'))).toEqual([
    { row: 1, line: 2, cells: { id: '1', note: 'a' } },
    { row: 2, line: 3, cells: { id: '2', note: 'b' }, problem: { problem, value: 'stray' } },
  ]);
});

test.each<[line: string, problem: string]>([
  ['1', 'has 1 cell, the header has 3; is the line cut off?'],
  ['1,2,3,4,5', 'has 5 cells, the header has 3; a cell that contains the delimiter must be in quotes'],
])('a record with another number of cells is a row with a problem: %s', async (line, problem) => {
  const rows = await allRows(await openText('a.csv', `a,b,c\n${line}\n4,5,6\n`));
  expect(rows).toMatchObject([
    { row: 1, line: 2, problem: { problem } },
    { row: 2, line: 3 },
  ]);
  expect(rows[1]).toEqual({ row: 2, line: 3, cells: { a: '4', b: '5', c: '6' } });
});

test.each(['a,b,c\n1,2,3\n   \n \t, ,\n\u00a0\n4,5,6\n  ', 'a\tb\tc\n1\t2\t3\n \t \t\n4\t5\t6\n'])(
  'a line of blanks is a blank line: %j',
  async (csv) => {
    const rows = await allRows(await openText('a.csv', csv));
    expect(rows.map(({ row, cells, problem }) => [row, cells['a'], problem])).toEqual([
      [1, '1', undefined],
      [2, '4', undefined],
    ]);
  },
);

test.each(['Total: 300', '3 rows exported', '(3 rows)', '"1,234 Datensätze"', 'Grand Total', 'Summe'])(
  'a line below the table is told from a row that was cut off: %s',
  async (line) => {
    const rows = await allRows(await openText('a.csv', `a,b,c\n1,2,3\n${line}\n`));
    expect(rows[1]?.problem?.problem).toBe('seems to be a line below the table, such as a total; delete it');
  },
);

test('a line of JSON Lines with several objects is a row with a problem that says how to join them', async () => {
  const [row] = await allRows(await openText('a.jsonl', '{"a":1}{"a":2}\n{"a":3}\n'));
  expect(row?.problem?.problem).toMatch(
    /^has another object behind the first; make one array of all: jq -s \. FILE > rows\.json .*\(character 8 of the line\)$/,
  );
});

test('a line of JSON Lines that is not JSON is a row with a problem', async () => {
  const rows = await allRows(await openText('a.jsonl', '{"a":1}\n{"a":\n\noops\n{"a":2}\n'));
  expect(rows).toMatchObject([
    { row: 1, line: 1, cells: { a: 1 } },
    { row: 2, line: 2, cells: {}, problem: { value: '{"a":' } },
    { row: 3, line: 4, cells: {}, problem: { value: 'oops' } },
    { row: 4, line: 5, cells: { a: 2 } },
  ]);
  expect(rows[1]?.problem?.problem).toMatch(/^is not JSON: .+ \(character 6 of the line\)$/);
});

const rowOf = (id: number) => `{"id":"${id}"}`;
const ids = Array.from({ length: 1_200 }, (_, index) => index);

test.each([
  ['a.csv', `id,note\n${ids.map((id) => `${id},\n`).join('')}`],
  ['a.json', `[${ids.map(rowOf)}]`],
  ['a.jsonl', ids.map(rowOf).join('\n')],
])('all rows of %s come, in chunks of 1 to 500', async (name, content) => {
  const read: number[] = [];
  for await (const rows of (await openText(name, content)).rows()) {
    expect([rows.length > 0, rows.length <= 500]).toEqual([true, true]);
    read.push(...rows.map(({ cells }) => Number(cells['id'])));
  }
  expect(read).toEqual(ids);
});

const german = 'Bewertungs-ID;user_id;title\r\n1;jörg ; Grüße\r\n';
const windows = { encoding: 'windows-1252' };
const latin = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);

test.each<[title: string, name: string, content: string | Buffer, options: OpenOptions, line: number]>([
  ['windows-1252, gzipped', 'a.csv.gz', latin(german), windows, 2],
  ['UTF-16 with a byte order mark', 'a.csv', utf16(german), {}, 2],
])('reads %s; the lines are those of the file', async (_title, name, content, options, line) => {
  const manifest = await openText(name, content, options);
  const cells = { 'Bewertungs-ID': '1', user_id: 'jörg ', title: ' Grüße' };
  expect(await allRows(manifest)).toEqual([{ row: 1, line, cells }]);
  expect(await cellsOf(name, content, { ...options, trim: true })).toMatchObject([
    { user_id: 'jörg', title: 'Grüße' },
  ]);
});

const belowTitle = (line: number, skip: number) =>
  `a.csv: the column names seem to be on line ${line}, below a title; pass --skip-lines ${skip}`;
const noArray = '--rows-at "b.c": this object has no array there; its arrays are a';
const fromObject = '--rows-at only works with a JSON object';

test.each<[message: string, name: string, content: string | Buffer, options?: OpenOptions]>([
  [belowTitle(2, 1), 'a.csv', 'Export\nevaluation_id,note\n1,x\n'],
  [belowTitle(3, 2), 'a.csv', 'Bericht;;;\n;;;\nBewertungs-ID;Benutzer;Datum;Grund\n12;u;1;2\n'],
  ['a.csv: no line is left after the skipped lines (--skip-lines 2)', 'a.csv', 'a\n', { skipLines: 2 }],
  ['a.csv:1:1: "sep=x" is not a known delimiter; use comma, semicolon, tab or |', 'a.csv', 'sep=x\na\n1\n'],
  ['a.csv: this is not utf-16le; pass the right --encoding', 'a.csv', utf16('a\n\ud800')],
  ['a.csv:3:4: quote inside a cell', 'a.csv', 'Title\nA,B\n1,2"\n', { skipLines: 1 }],
  ['--skip-lines only works with CSV, TSV and Excel', 'a.csv', 'x\n[{"a":1}]', { skipLines: 1 }],
  [`a.csv: ${fromObject}`, 'a.csv', 'a,b\n1,2\n', { rowsAt: 'data' }],
  [`a.json: ${fromObject}`, 'a.json', '[{"a":1}]', { rowsAt: 'rows' }],
  ['no array "rows"; if the rows are in "data", pass --rows-at data', 'a.json', '{"n":1,\n"data":[{"a":1}]}'],
  ['--rows-at: a b, c; write [ rows ], { "rows": [ rows ] }', 'a.json', '{"a b":[],\n"c":[]}'],
  [noArray, 'a.json', '{"a":[1],"b":{"c":2}}', { rowsAt: 'b.c' }],
  ['"d" appears twice in this object', 'a.json', '{"d":[{"a":1}],"d":[{"a":1}]}', { rowsAt: 'd' }],
])('tells %j', async (message, name, content, options) => {
  expect((await failure(name, content, options)).message).toContain(message);
});

test.each<[title: string, content: string, rowsAt: string, lines: number[]]>([
  ['a member among others', `{"ids":[${'1,'.repeat(9e6)}1],"data":[\n{"a":1},{"a":2}]}`, 'data', [2, 2]],
  ['a deeper member', '{"x":{"i":[1]},"r":{"n":1,"i":[{"a":1},{"a":2}]},"i":[]}', 'r.i', [1, 1]],
])('finds the rows in %s of an object', async (_title, content, rowsAt, lines) => {
  const rows = await allRows(await openText('a.json', content, { rowsAt }));
  expect(rows.map(({ line, cells }) => [line, cells])).toEqual([
    [lines[0], { a: 1 }],
    [lines[1], { a: 2 }],
  ]);
});
