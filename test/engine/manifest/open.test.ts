import { expect, test } from 'vitest';
import type { Manifest } from '../../../src/engine/manifest/manifest.ts';
import type { OpenOptions } from '../../../src/engine/manifest/open.ts';
import { allRows, failure, openText } from './reading.ts';

const delimited = 'evaluation_id,note\n1,one\n2,two\n';
const expected = [
  { row: 1, line: 2, cells: { evaluation_id: '1', note: 'one' } },
  { row: 2, line: 3, cells: { evaluation_id: '2', note: 'two' } },
];

test.each<[title: string, content: string]>([
  ['commas', delimited],
  ['semicolons', delimited.replaceAll(',', ';')],
  ['tabs', delimited.replaceAll(',', '\t')],
  ['pipes', delimited.replaceAll(',', '|')],
  ['CR LF', delimited.replaceAll('\n', '\r\n')],
  ['CR', delimited.replaceAll('\n', '\r')],
  ['mixed line ends', 'evaluation_id,note\r\n1,one\n2,two\r'],
  ['a byte order mark', `\ufeff${delimited}`],
  ['no line end at the end', delimited.trimEnd()],
  ['quotes around everything', '"evaluation_id","note"\n"1","one"\n"2","two"\n'],
  ['blank lines at the end', `${delimited}\n\r\n\n`],
  ['rows of nothing but delimiters at the end', `${delimited},\r\n,,\n"",\n`],
  ['delimiters of another kind in quotes', '"evaluation_id",note\n1,"one"\n"2","two"'],
])('reads delimited text with %s', async (_title, content) => {
  expect(await allRows(await openText('rows.csv', content))).toEqual(expected);
});

const objects = '{"evaluation_id":"1","note":"one"}\n{"evaluation_id":"2","note":"two"}';

test.each<[title: string, name: string, content: string, lines: readonly number[]]>([
  ['a JSON array', 'rows.json', `[${objects.replace('\n', ',')}]`, [1, 1]],
  ['a JSON array on several lines', 'rows.json', ` [\r\n${objects.replace('\n', ',\r\n\r\n')}\n]\n`, [2, 4]],
  ['a JSON array with a byte order mark', 'rows.json', `\ufeff[${objects.replace('\n', ',')}]`, [1, 1]],
  ['JSON Lines', 'rows.jsonl', objects, [1, 2]],
  ['JSON Lines with a byte order mark', 'rows.jsonl', `\ufeff${objects}`, [1, 2]],
  [
    'JSON Lines with CR LF and blank lines',
    'rows.jsonl',
    `\r\n${objects.replace('\n', '\r\n \r\n')}\r\n`,
    [2, 4],
  ],
  ['JSON Lines with CR', 'rows.jsonl', objects.replace('\n', '\r'), [1, 2]],
  ['JSON Lines called .json', 'rows.json', objects, [1, 2]],
  ['an array called .csv', 'rows.csv', `[${objects.replace('\n', ',')}]`, [1, 1]],
  ['an array called .jsonl', 'rows.jsonl', `[${objects.replace('\n', ',')}]`, [1, 1]],
  ['rows in an object', 'rows.json', `{"rows":[${objects.replace('\n', ',')}]}`, [1, 1]],
  [
    'rows in an object, a row a line',
    'rows.json',
    `{"rows": [\n${objects.replace('\n', ',\n')}\n]}\n`,
    [2, 3],
  ],
  ['such an object called .jsonl', 'rows.jsonl', `{ "rows":[\r${objects.replace('\n', ',\r')}\r]}`, [2, 3]],
  ['an array, a row a line', 'rows.jsonl', `[\n${objects.replace('\n', ',\n')}\n]`, [2, 3]],
  ['text with tabs called .csv', 'rows.csv', delimited.replaceAll(',', '\t'), [2, 3]],
])('recognizes the format by the content: %s', async (_title, name, content, lines) => {
  const rows = expected.map((row, index) => ({ ...row, line: lines[index] }));
  expect(await allRows(await openText(name, content))).toEqual(rows);
  expect(await allRows(await openText(`${name}.gz`, content))).toEqual(rows);
});

test.each<[name: string, content: string, facts: Partial<Manifest>]>([
  ['a.csv', delimited, { format: 'csv' }],
  ['a.csv', delimited.replaceAll(',', '\t'), { format: 'tsv' }],
  ['a.txt', delimited.replaceAll(',', '|'), { format: 'csv' }],
  ['a.json.gz', `[${objects.replace('\n', ',')}]`, { format: 'json' }],
  ['a', objects, { format: 'jsonl' }],
  ['one-column.tsv', 'evaluation_id\n1\n', { format: 'tsv' }],
  ['one-column.csv', 'evaluation_id\n1\n', { format: 'csv' }],
  ['one-row.json', '{"evaluation_id":1}', { format: 'jsonl' }],
])('names the format of %s (%#)', async (name, content, facts) => {
  expect(await openText(name, content)).toMatchObject({ name, ...facts });
});

test.each([
  '{"operation":"restore-evaluation","defaults":{"User ID":"u"},"rows":[{"evaluation_id":1}]}',
  '{"rows":[{"evaluation_id":1}],"defaults":{"user_id":"u","evaluation_id":null},"operation":"restore-evaluation"}',
  '{\n  "defaults": { "userId": "u" },\n  "rows": [\n {"evaluation_id":1}\n ],\n "operation": "restore-evaluation"\n}\n',
])('takes operation and defaults from an object, in any order: %s', async (content) => {
  const manifest = await openText('rows.json', content);
  expect(manifest).toMatchObject({
    format: 'json',
    operation: 'restore-evaluation',
    defaults: { user_id: 'u' },
  });
  expect((await allRows(manifest)).map(({ cells }) => cells)).toEqual([{ evaluation_id: 1 }]);
});

test('blank lines with delimiters count as lines, and not as rows', async () => {
  const rows = await allRows(await openText('a.csv', ',,\n\na,b,c\n,,\n1,,\n\n,,\n,2,\n,,\n'));
  expect(rows).toEqual([
    { row: 1, line: 5, cells: { a: '1' } },
    { row: 2, line: 8, cells: { b: '2' } },
  ]);
});

test.each([
  [
    'objects over several lines',
    'a.jsonl',
    '{\n"a": 1\n}\n{\n"a": 2\n}\n',
    /no array "rows".*one object on each line/,
  ],
  ['an object that is cut off', 'a', '{"rows": [\n{"a":1},\n{"a":2}\n', /^a:4:1: the file ends too early/],
])('%s are no JSON Lines', async (_title, name, content, message) => {
  expect((await failure(name, content)).message).toMatch(message);
});

test('a row of JSON Lines may have a column called rows', async () => {
  const rows = await allRows(await openText('a.jsonl', '{"rows":[1]}\n{"rows":[2]}'));
  expect(rows.map(({ cells }) => cells)).toEqual([{ rows: [1] }, { rows: [2] }]);
});

test('lines are counted through quoted line ends of any kind', async () => {
  const content = 'id,note\n1,"a\nb"\n2,"a\r\nb\r\nc"\n\n3,"a\rb"\n4,x\n';
  const rows = await allRows(await openText('a.csv', content));
  expect(rows.map(({ line, cells }) => [line, cells['note']])).toEqual([
    [2, 'a\nb'],
    [4, 'a\r\nb\r\nc'],
    [8, 'a\rb'],
    [10, 'x'],
  ]);
});

test('an empty cell is left out, the clear token is the empty string', async () => {
  const content = 'id,title,note\n1,,<clear>\n2,"<clear>",""\n3,<CLEAR>, \n';
  const rows = await allRows(await openText('a.csv', content));
  expect(rows.map(({ cells }) => cells)).toEqual([
    { id: '1', note: '' },
    { id: '2', title: '' },
    { id: '3', title: '<CLEAR>', note: ' ' },
  ]);
});

test.each(['[a]', '{a}', '<a>'])('a header of delimited text may begin with %s', async (name) => {
  expect((await openText('a.csv', `${name},b\n1,2\n`)).columns()).toEqual([name, 'b']);
});

test('a first column named like a number is a header in a file that a report wrote', async () => {
  expect((await openText('a.csv', '1,b,_guarded\n1,2,yes\n')).columns()).toEqual(['1', 'b']);
});

test('blanks around the clear token are trimmed like others', async () => {
  const content = 'id,a,b\n1," <clear>\t",<clear>\n2, x ,\n';
  const read = async (trim: boolean, clearToken?: string) => {
    const rows = await allRows(await openText('a.csv', content, { trim, ...(clearToken && { clearToken }) }));
    return rows.map(({ cells }) => cells);
  };
  expect(await read(true)).toEqual([
    { id: '1', a: '', b: '' },
    { id: '2', a: 'x' },
  ]);
  expect(await read(false)).toEqual([
    { id: '1', a: ' <clear>\t', b: '' },
    { id: '2', a: ' x ' },
  ]);
  expect((await read(true, ' x '))[1]).toEqual({ id: '2', a: '' });
});

test('the clear token can be changed, and means nothing in JSON', async () => {
  const options = { clearToken: '-' };
  expect((await allRows(await openText('a.csv', 'id,t\n-,<clear>\n', options)))[0]?.cells).toEqual({
    id: '',
    t: '<clear>',
  });
  expect((await allRows(await openText('a.json', '[{"t":"-","u":""}]', options)))[0]?.cells).toEqual({
    t: '-',
    u: '',
  });
});

test('rows marked as guarded lose their guard, others keep every apostrophe', async () => {
  const content = [
    'id,"\'=title",_guarded',
    "1,'=cmd(),yes",
    "2,'=cmd(),",
    "3,'<clear>,yes",
    '4,<clear>,yes',
    "5,'quoted',yes",
  ].join('\n');
  const manifest = await openText('a.csv', content);
  expect(manifest.columns()).toEqual(['id', '=title']);
  const titles = (await allRows(manifest)).map(({ cells }) => cells['=title']);
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

test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
  'an absent column %s is undefined',
  async (name) => {
    for (const content of ['id\n1\n', '[{"id":1}]']) {
      for await (const [row] of (await openText('a', content)).rows()) {
        expect(row?.cells[name]).toBeUndefined();
      }
    }
  },
);

test('a column without a name is ignored as long as it is empty', async () => {
  const rows = await allRows(await openText('a.csv', 'id,note,, \n1,a,,\n2,b,,stray\n'));
  expect(rows).toEqual([
    { row: 1, line: 2, cells: { id: '1', note: 'a' } },
    {
      row: 2,
      line: 3,
      cells: { id: '2', note: 'b' },
      problem: {
        problem: 'text in column 4, which has no name; name the column or clear the cell',
        value: 'stray',
      },
    },
  ]);
});

test.each<[title: string, line: string, problem: string]>([
  ['too few cells', '1', 'has 1 cell, the header has 3; is the line cut off?'],
  [
    'too few cells though only empty ones are missing',
    '1,',
    'has 2 cells, the header has 3; is the line cut off?',
  ],
  [
    'too many cells',
    '1,2,3,4,5',
    'has 5 cells, the header has 3; a cell that contains the delimiter must be in quotes',
  ],
])('a record with %s is a row with a problem', async (_title, line, problem) => {
  const rows = await allRows(await openText('a.csv', `a,b,c\n${line}\n4,5,6\n`));
  expect(rows).toMatchObject([
    { row: 1, line: 2, problem: { problem } },
    { row: 2, line: 3, cells: { a: '4', b: '5', c: '6' } },
  ]);
  expect(rows[1]).not.toHaveProperty('problem');
});

test.each(['1', '"text"', 'null', 'true', '[1]', '9007199254740993', '1.00000000000000000001'])(
  'a JSON row that is %s instead of an object is a row with a problem',
  async (value) => {
    const problem = { problem: 'is not a JSON object; write {"column": value, …}' };
    for (const content of [`[{"a":1},${value},{"a":2}]`, `{"rows":[{"a":1},${value},{"a":2}]}`]) {
      expect(await allRows(await openText('a.json', content))).toMatchObject([
        { row: 1, cells: { a: 1 } },
        { row: 2, cells: {}, problem },
        { row: 3, cells: { a: 2 } },
      ]);
    }
    expect((await allRows(await openText('a.jsonl', `{"a":1}\n${value}\n`)))[1]).toMatchObject({
      row: 2,
      line: 2,
      problem,
    });
  },
);

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

test('JSON values are exact', async () => {
  const cells = {
    a: '9007199254740993',
    b: '9223372036854775807',
    c: '1.10',
    d: '{"__proto__":{"x":[null]}}',
    e: '"\\u0000\\ud800\\ude00\\ud800"',
  };
  const json = `{${Object.entries(cells).map(([name, value]) => `"${name}":${value}`)}}`;
  for (const content of [`[${json}]`, `${json}\n${json}`, `{"rows":[${json}]}`]) {
    const [row] = await allRows(await openText('a', content));
    expect(row?.cells).toMatchObject({
      a: 9007199254740993n,
      b: 9223372036854775807n,
      e: '\u0000\ud800\ude00\ud800',
    });
    expect(String(row?.cells['c'])).toBe('1.1');
    expect(Object.keys(row?.cells['d'] as object)).toEqual(['__proto__']);
  }
});

test('NUL is data', async () => {
  const rows = await allRows(await openText('a.csv', 'id,note\n1,\u0000\n\u00002,"a\u0000b"\n'));
  expect(rows.map(({ cells }) => cells)).toEqual([
    { id: '1', note: '\u0000' },
    { id: '\u00002', note: 'a\u0000b' },
  ]);
});

test('rows can be read repeatedly, even after an interrupted reading', async () => {
  const manifest = await openText('a.csv', delimited);
  for await (const _chunk of manifest.rows()) break;
  expect(await allRows(manifest)).toEqual(expected);
  expect(await allRows(manifest)).toEqual(expected);
});

test('chunks hold 1 to 500 rows', async () => {
  const manifest = await openText('a.csv', `id,note\n${'1,x\n'.repeat(1200)}`);
  const sizes: number[] = [];
  for await (const chunk of manifest.rows()) sizes.push(chunk.length);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(Math.max(...sizes)).toBe(500);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1200);
});

test('columns of JSON rows come in order of first appearance', async () => {
  const late = `${'{"b":1}\n'.repeat(100_000)}{"c":1,"b":2}`;
  const manifest = await openText('a.jsonl', `{"b":1,"a":2}\n${late}`);
  expect(manifest.columns()).toEqual(['b', 'a']);
  await allRows(manifest);
  expect(manifest.columns()).toEqual(['b', 'a', 'c']);
});

const german = 'Bewertungs-ID;user_id;title\r\n1;jörg ; Grüße\r\n';
const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const mark = Buffer.from([0xff, 0xfe]);

test.each<[title: string, name: string, content: string | Buffer, options: OpenOptions, line: number]>([
  ['windows-1252', 'a.csv', bytesOf(german), { encoding: 'windows-1252' }, 2],
  ['windows-1252, gzipped', 'a.csv.gz', bytesOf(german), { encoding: 'windows-1252' }, 2],
  ['UTF-16 with a byte order mark', 'a.csv', Buffer.concat([mark, Buffer.from(german, 'utf16le')]), {}, 2],
  ['UTF-16 without one', 'a.csv', Buffer.from(german, 'utf16le'), { encoding: 'utf-16le' }, 2],
  [
    'a byte order mark that overrides --encoding',
    'a.csv',
    `\ufeff${german}`,
    { encoding: 'windows-1252' },
    2,
  ],
  ['a line sep=', 'a.csv', `sep=;\r\n${german}`, {}, 3],
  ['titles', 'a.csv', `Export, 12.3.\r\n\r\n${german}`, { skipLines: 2 }, 4],
  [
    'sep= and titles',
    'a.csv',
    bytesOf(`sep=;\r\nGrüße\r\n${german}`),
    { skipLines: 1, encoding: 'windows-1252' },
    4,
  ],
])('reads %s; the lines are those of the file', async (_title, name, content, options, line) => {
  const manifest = await openText(name, content, options);
  const cells = { 'Bewertungs-ID': '1', user_id: 'jörg ', title: ' Grüße' };
  expect(await allRows(manifest)).toEqual([{ row: 1, line, cells }]);
  expect(await allRows(await openText(name, content, { ...options, trim: true }))).toMatchObject([
    { cells: { user_id: 'jörg', title: 'Grüße' } },
  ]);
});

test('the delimiter of sep= is used, even if another one would split the header', async () => {
  const manifest = await openText('a.csv', 'sep=|\na,b|c\n1|2\n');
  expect(manifest.columns()).toEqual(['a,b', 'c']);
});

test.each<[title: string, content: string | Buffer, options: OpenOptions, message: string]>([
  [
    'a title above the header',
    'Export\nevaluation_id,note\n1,x\n',
    {},
    'a.csv:1:1: the column names seem to be on line 2, below a title; pass --skip-lines 1',
  ],
  [
    'a title in all columns',
    'Export;;\n\nNr;Name;Art\n1;2;3\n',
    {},
    'a.csv:2:1: the column names seem to be on line 3, below a title; pass --skip-lines 2',
  ],
  [
    'a title and a line of only delimiters',
    'Bericht;;;\n;;;\nBewertungs-ID;Benutzer;Datum;Grund\n12;u;1;2\n',
    {},
    'a.csv:2:1: the column names seem to be on line 3, below a title; pass --skip-lines 2',
  ],
  [
    'another title',
    'sep=;\nExport\nStand\nUser ID;Nr\n1;2\n',
    { skipLines: 1 },
    'a.csv:3:1: the column names seem to be on line 4, below a title; pass --skip-lines 2',
  ],
  [
    'more lines to skip than there are',
    'a\n',
    { skipLines: 2 },
    'a.csv: no line is left after the skipped lines (--skip-lines 2)',
  ],
  [
    'sep= with something strange',
    'sep=x\na\n1\n',
    {},
    'a.csv:1:1: "sep=x" is not a known delimiter; use comma, semicolon, tab or |',
  ],
  [
    'text in another encoding',
    Buffer.concat([mark, Buffer.from('a\n\ud800', 'utf16le')]),
    {},
    'a.csv: this is not utf-16le; pass the right --encoding',
  ],
  ['a mistake after titles', 'Title\nA,B\n1,2"\n', { skipLines: 1 }, 'a.csv:3:4: quote inside a cell'],
  [
    'a mistake in another encoding',
    bytesOf('A,B\nä,2"\n'),
    { encoding: 'windows-1252' },
    'a.csv:2:4: quote inside a cell',
  ],
  ['lines to skip in JSON', 'x\n[{"a":1}]', { skipLines: 1 }, ''],
  ['--rows-at for CSV', 'a,b\n1,2\n', { rowsAt: 'data' }, 'a.csv: --rows-at only works with a JSON object'],
])('tells %s', async (_title, content, options, message) => {
  const error = await failure('a.csv', content, options);
  expect(error.message).toContain(message);
});

test.each<[title: string, content: string, rowsAt: string, lines: number[]]>([
  ['a member', '{"total":2,"data":[{"a":1},\n{"a":2}],"next":{"rows":[5]}}', 'data', [1, 2]],
  [
    'a member among large arrays',
    `{"ids":[${'1,'.repeat(9_000_000)}1],"data":[\n{"a":1},{"a":2}]}`,
    'data',
    [2, 2],
  ],
  [
    'a deeper member',
    '{"x":{"items":[1]},"result":{"n":1,"items":[{"a":1},{"a":2}]},"items":[]}',
    'result.items',
    [1, 1],
  ],
])('finds the rows in %s of an object', async (_title, content, rowsAt, lines) => {
  const rows = await allRows(await openText('a.json', content, { rowsAt }));
  expect(rows.map(({ line }) => line)).toEqual(lines);
  expect(rows.map(({ cells }) => String(cells['a']))).toEqual(['1', '2']);
});

test.each<[title: string, content: string, rowsAt: string | undefined, message: string]>([
  [
    'the only array',
    '{"n":1,\n"data":[{"a":1}]}',
    undefined,
    'a.json:1:1: this object has no array "rows"; if the rows are in "data", pass --rows-at data',
  ],
  ['arrays', '{"a b":[],\n"c":[]}', undefined, 'write [ rows ], { "rows": [ rows ] }'],
  [
    '--rows-at without rows there',
    '{"a":[1],"b":{"c":2}}',
    'b.c',
    '--rows-at "b.c": this object has no array there; its arrays are a',
  ],
  ['--rows-at for an array', '[{"a":1}]', 'rows', 'a.json: --rows-at only works with a JSON object'],
  ['two arrays of that name', '{"d":[{"a":1}],"d":[{"a":1}]}', 'd', '"d" appears twice in this object'],
])('tells %s', async (_title, content, rowsAt, message) => {
  const error = await failure('a.json', content, rowsAt === undefined ? {} : { rowsAt });
  expect(error.message).toContain(message);
});
