import { expect, test } from 'vitest';
import { allRows, failure, openText } from '../reading.ts';

const only = 'use operation, defaults and rows only, or pass --rows-at rows to ignore other members';
const user = 'user_id; keep one of them';
const jq = 'FILE > rows.json (with jq 1.7 or later: before, it rounds long identifiers)';
const forms = 'write [ rows ], { "rows": [ rows ] }, or one object on each line (JSON Lines)';

test.each<[content: string, where: string, problem: string]>([
  ['[{"a":1},', '1:10', 'the file ends too early; is it cut off?'],
  ['[{"a":1},\n]', '2:1', 'expected a value, not "]"'],
  ['[{"a":1},{"a":"x\n"}]', '1:15', 'this string has no closing quote on its line'],
  ['{rows:[]}', '1:2', 'expected a name in double quotes, not "r"'],
  ['{"rows":[{"a":1}],"default":{}}', '1:29', `unknown member "default"; ${only}`],
  ['{"operation":1,"rows":[{"a":1}]}', '1:14', '"operation" must be the name of an operation'],
  ['{"defaults":[],"rows":[{"a":1}]}', '1:13', '"defaults" must be an object with a value for each field'],
  ['{"defaults":{"userId":1,"user_id":2},"rows":[{"a":1}]}', '1:13', `"defaults" has two values for ${user}`],
  ['{\n"a":1\n}', '1:1', `this object has no array "rows"; ${forms}`],
  [
    '{\n"a":1\n}\n{\n"a":2\n}',
    '1:1',
    `another object follows this one; make one array of all: jq -s . ${jq}`,
  ],
  [
    '{"d":[\n{"a":1}]}\n{"d":[\n{"a":1}]}',
    '1:1',
    `another object follows this one; make one array of all: jq -s "[.[].d[]]" ${jq}`,
  ],
  [
    '[{"a":1}][{"a":2}]',
    '1:10',
    `text after the end of the array; if the file has several, make it one array: jq -s add ${jq}`,
  ],
  ['oops', '1:1', 'a JSON manifest must begin with [ or {'],
])('broken JSON is reported with line and column: %j', async (content, where, problem) => {
  const error = await failure('a.json', content);
  expect([error.code, error.message]).toEqual(['MANIFEST_SYNTAX', `a.json:${where}: ${problem}`]);
});

test.each<[content: string, where: string, name: string]>([
  ['[{"evaluation_id":1,"note":"x","evaluation_id":2}]', '1:32', 'evaluation_id'],
  ['[{"a":1},\n  {"é":"🙂",\n "a":1, "a":1}]', '3:9', 'a'],
  ['[{"a":12345678901234567890,"a":12345678901234567890}]', '1:28', 'a'],
  ['{"defaults":{"user_id":"u","user\\u005fid":"v"},"rows":[{"a":1}]}', '1:28', 'user_id'],
  ['{"defaults":{},"defaults":{},"rows":[{"a":1}]}', '1:27', 'defaults'],
])('a repeated name in an object is refused at its place: %j', async (content, where, name) => {
  const error = await failure('a.json', content);
  expect([error.code, error.message]).toEqual([
    'MANIFEST_REPEATED_NAME',
    `a.json:${where}: "${name}" appears twice in this object; keep one of them`,
  ]);
});

test('a line of JSON Lines with a repeated name is an invalid row without any values', async () => {
  const lines = '{"id":1,"a":"🙂","id":2}\n{"id":3,"a":{"b":1,"\\u0062":1}}\n{"id":4}\n';
  const rows = await allRows(await openText('a.jsonl', lines));
  const twice = (name: string, at: number) =>
    `"${name}" appears twice in this object; keep one of them (character ${at} of the line)`;
  expect(rows.map(({ problem }) => problem?.problem)).toEqual([twice('id', 17), twice('b', 20), undefined]);
  expect(rows.map(({ cells }) => cells)).toEqual([{}, {}, { id: 4 }]);
});

test('JSON that is nested too deeply is refused', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect((await failure('a.json', `[{"a":${deep}}]`)).code).toBe('MANIFEST_SYNTAX');
  const [row] = await allRows(await openText('a.jsonl', `{"a":${deep}}`));
  expect(row?.problem?.problem).toMatch(/^is not JSON: .*deep/);
});
