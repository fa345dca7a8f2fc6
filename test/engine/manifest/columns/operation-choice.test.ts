import { expect, test } from 'vitest';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { defineOperation } from '../../../../src/engine/operation/operation.ts';
import { type Options, prepareAll, testOperations } from '../operations.ts';
import { openText } from '../reading.ts';

const defaults = { user_id: 'u' };
const unreadable = '{"a":}\n{"a":}';
const renaming = '{"operation":"renameRoom","rows":[{"x":1}]}';
const late = `${'{"a":}\n'.repeat(1000)}{"room_id":"1"}`;

test.each<[how: string, source: string, name: string | undefined, content: string, options?: Options]>([
  ['by a column', 'column', undefined, 'Operation,ticket_id\nclose-ticket,1\n'],
  ['by --operation', 'option', 'rename-room', 'room_id\n1\n', { operation: 'Rename Room' }],
  ['by the manifest', 'manifest', 'rename-room', renaming],
  ['from the columns', 'inferred', 'rename-room', 'roomId,note\n1,x\n'],
  ['from the columns and --user-id', 'inferred', 'close-ticket', 'ticket_id\n1\n', { defaults }],
  ['from the keys of JSON rows', 'inferred', 'rename-room', '[{"a":1},{"room_id":"1"}]'],
  ['from the first row that can be read, however late', 'inferred', 'rename-room', late],
  ['not at all when no row can be read', 'none', undefined, unreadable],
])('the operation is chosen %s', async (_how, source, name, content, options) => {
  const { choice } = (await prepareAll(content, options)).preparer;
  expect(choice).toEqual({ source, ...(name && { name }) });
});

const unknown = 'use one of close-ticket, rename-room';
const twice = 'a: columns "Title" and "title" both stand for title; rename or delete one';
const renamed = '{"operation":"rename-room","rows":[{"x":1}]}';
const noField = '{"defaults":{"titel":"x"},"rows":[{"room_id":"1"}]}';
const unclear =
  'a: can\'t tell what to do with the columns "ticket_id", "roomid": ' +
  'for close-ticket, user_id is missing (--default user_id=VALUE gives it for all rows); ' +
  'for rename-room, room_id is missing (if it is "roomid", pass --map "roomid=room_id"). ' +
  'Add what is missing, or add a column "operation"';
const several =
  /: the columns fit close-ticket, rename-room\. Pass --operation, or add a column "operation"$/;
const differ = 'a says it is for rename-room, --operation says close-ticket; remove one of them';

test.each<[code: string, message: string, content: string, options?: Options]>([
  ['UNKNOWN_OPERATION', `--operation rename: unknown; ${unknown}`, 'room_id\n1\n', { operation: 'rename' }],
  ['MANIFEST_OPERATION_MISMATCH', differ, renamed, { operation: 'close-ticket' }],
  ['MANIFEST_OPERATION_UNCLEAR', unclear, 'ticket_id,roomid\n1,2\n'],
  ['MANIFEST_AMBIGUOUS_COLUMN', twice, 'room_id,Title,note,title\n1,a,b,c\n'],
  ['MANIFEST_DEFAULTS', 'a: "defaults": titel is not a field of any operation; rename or delete it', noField],
])('a manifest is refused with %s: %s', async (code, message, content, options) => {
  await expect(prepareAll(content, options)).rejects.toMatchObject({ kind: 'usage', code, message });
});

test.each([
  ['[{},{"_row":1}]', /^a: can't tell what to do with rows that have no columns: for close-ticket, /],
  ['ticket_id,user_id,room_id\n1,2,3\n', several],
  ['Operation,operation,room_id\n,,1\n', /both stand for operation/],
  ['{"data":[{"room_id":1},{"room_id":2}]}', /: the rows seem to be in "data"; pass --rows-at data$/],
])('%j is refused for what is wrong with it', async (content, message) => {
  await expect(prepareAll(content)).rejects.toThrow(message);
});

test('a column that a built-in operation knows may hold the field of another operation', async () => {
  const own = defineOperation({
    name: 'rename',
    thing: 'user',
    summary: 'x',
    subject: 'id',
    columns: {},
    repeatable: true,
    fields: { id: { type: 'integer', required: true } },
    request: () => ({ path: '/rename' }),
    interpret: () => ({ ok: true as const, value: undefined }),
  });
  const manifest = await openText('a.csv', 'User ID,note\n1,x\n');
  const operations = [...testOperations, { ...own, module: 'a'.repeat(64) }];
  expect(() => createRowPreparer({ manifest, operations })).toThrow(
    'for rename, id is missing (if it is "User ID", pass --map "User ID=id")',
  );
});
