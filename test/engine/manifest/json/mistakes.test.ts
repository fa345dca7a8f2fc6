import { expect, test } from 'vitest';
import { allRows, failure, openText } from '../reading.ts';

test.each<[content: string, message: RegExp]>([
  ['[{"a":1},', /^a\.json:1:10: the file ends too early; is it cut off\?$/],
  ['[\n{"a":1},\n{"a":', /^a\.json:3:1: the file ends inside this value; is it cut off\?$/],
  ['[{"a":1}\n{"a":2}]', /^a\.json:2:1: expected , or \], not "\{"$/],
  ['[{"a":1},\n]', /^a\.json:2:1: expected a value, not "\]"$/],
  ['[{"a":1}]\n]', /^a\.json:2:1: text after the end of the array$/],
  ['[{"a":"ë"},\n{"é":"x" "b":2}]', /^a\.json:2:10: /],
  ['[{"a":\n  tru}]', /^a\.json:2:\d: /],
  ['[{"a":1},{"a":"x\n"}]', /^a\.json:1:15: this string has no closing quote on its line$/],
  ['[{"a":"\t"}]', /^a\.json:1:8: control character in a string; write it as \\t$/],
  ['{"rows":[{"a":1}] "x":1}', /^a\.json:1:19: expected , or \}, not """$/],
  ['{rows:[]}', /^a\.json:1:2: expected a name in double quotes, not "r"$/],
  [
    '{"rows":[{"a":1}],"default":{}}',
    /^a\.json:1:29: unknown member "default"; use operation, defaults and rows only, or pass --rows-at rows to ignore other members$/,
  ],
  ['{"operation":1,"rows":[{"a":1}]}', /^a\.json:1:14: "operation" must be the name of an operation$/],
  ['{"defaults":[],"rows":[{"a":1}]}', /^a\.json:1:13: "defaults" must be an object/],
  [
    '{"defaults":{"userId":1,"user_id":2},"rows":[{"a":1}]}',
    /^a\.json:1:13: "defaults" has two values for user_id; keep one of them$/,
  ],
  ['{\n"a":1\n}', /^a\.json:1:1: this object has no array "rows"; write \[ rows \]/],
  ['oops', /^a\.json:1:1: a JSON manifest must begin with \[ or \{$/],
])('broken JSON is reported with line and column: %j', async (content, message) => {
  const error = await failure('a.json', content);
  expect([error.code, error.message]).toEqual(['MANIFEST_SYNTAX', expect.stringMatching(message)]);
});

test.each<[content: string, where: string, name: string]>([
  ['[{"evaluation_id":1,"note":"x","evaluation_id":2}]', '1:32', 'evaluation_id'],
  ['[{"a":1},\n  {"é":"🙂",\n "a":1, "a":1}]', '3:9', 'a'],
  ['[{"evaluation_id":1,"evaluation\\u005fid":2}]', '1:21', 'evaluation_id'],
  ['[{"":1,"":2}]', '1:8', ''],
  ['[{"__proto__":1,"__proto__":2}]', '1:17', '__proto__'],
  ['[{"_row":1,"_row":2}]', '1:12', '_row'],
  ['[{"a":12345678901234567890,"a":12345678901234567890}]', '1:28', 'a'],
  ['[{"note":{"deep":[{"x":":","x":"{"}]}}]', '1:28', 'x'],
  ['[{"a":{"b":1,"c":2},"a":null}]', '1:21', 'a'],
  ['{"defaults":{"user_id":"u","user_id":"v"},"rows":[{"a":1}]}', '1:28', 'user_id'],
  ['{"defaults":{"user_id":"u","user\\u005fid":"v"},"rows":[{"a":1}]}', '1:28', 'user_id'],
  ['{"rows":[{"a":1},{"b":1,"b":2}]}', '1:25', 'b'],
  ['{"rows":[{"a":1}],"rows":[]}', '1:26', 'rows'],
  ['{"rows":[{"a":1}],"ro\\u0077s":[]}', '1:31', 'rows'],
  ['{"rows":[{"a":1}],"rows":1}', '1:26', 'rows'],
  ['{"defaults":{},"defaults":{},"rows":[{"a":1}]}', '1:27', 'defaults'],
  ['{"operation":"x","rows":[{"a":1}],"operation":"y"}', '1:47', 'operation'],
])('a repeated name in an object is refused at its place: %j', async (content, where, name) => {
  const error = await failure('a.json', content);
  expect([error.code, error.message]).toEqual([
    'MANIFEST_REPEATED_NAME',
    `a.json:${where}: "${name}" appears twice in this object; keep one of them`,
  ]);
});

test('a line of JSON Lines with a repeated name is an invalid row without any values', async () => {
  const rows = await allRows(
    await openText('a.jsonl', '{"id":1,"a":"🙂","id":2}\n{"id":3,"a":{"b":1,"\\u0062":1}}\n{"id":4}\n'),
  );
  expect(rows).toMatchObject([
    {
      cells: {},
      problem: { problem: '"id" appears twice in this object; keep one of them (character 17 of the line)' },
    },
    {
      cells: {},
      problem: { problem: '"b" appears twice in this object; keep one of them (character 20 of the line)' },
    },
    { cells: { id: 4 } },
  ]);
  expect(rows[0]?.cells).toEqual({});
});

test('JSON that is nested too deeply is refused', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect((await failure('a.json', `[{"a":${deep}}]`)).code).toBe('MANIFEST_SYNTAX');
  const [row] = await allRows(await openText('a.jsonl', `{"a":${deep}}`));
  expect(row?.problem?.problem).toMatch(/^is not JSON: .*deep/);
});
