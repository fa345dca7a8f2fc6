import { expect, test } from 'vitest';
import { findByLooseName } from '../../../../src/engine/manifest/columns/operation-choice.ts';
import type { RowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { type Options, prepareAll, testOperations } from '../operations.ts';

test.each<[title: string, content: string, options: Options, choice: RowPreparer['choice']]>([
  ['by a column', 'Operation,ticket_id\nclose-ticket,1\n', {}, { source: 'column' }],
  [
    'by a column, with --operation for empty cells',
    'operation,ticket_id\n,1\n',
    { operation: 'close-ticket' },
    { source: 'column', name: 'close-ticket' },
  ],
  ['by --operation', 'room_id\n1\n', { operation: 'Rename Room' }, { source: 'option', name: 'rename-room' }],
  [
    'by the manifest',
    '{"operation":"renameRoom","rows":[{"x":1}]}',
    {},
    { source: 'manifest', name: 'rename-room' },
  ],
  [
    'by --operation and the manifest alike',
    '{"operation":"renameRoom","rows":[{"x":1}]}',
    { operation: 'rename-room' },
    { source: 'option', name: 'rename-room' },
  ],
  ['from the columns', 'roomId,note\n1,x\n', {}, { source: 'inferred', name: 'rename-room' }],
  [
    'from the columns and --user-id',
    'ticket_id\n1\n',
    { defaults: { user_id: 'u' } },
    { source: 'inferred', name: 'close-ticket' },
  ],
  [
    'from the columns and the defaults',
    '{"defaults":{"user_id":"u"},"rows":[{"ticket_id":"1"}]}',
    {},
    { source: 'inferred', name: 'close-ticket' },
  ],
  [
    'from the keys of JSON rows',
    '[{"a":1},{"room_id":"1"}]',
    {},
    { source: 'inferred', name: 'rename-room' },
  ],
  ['not at all when no row could be read', '{"a":}\n{"a":}', {}, { source: 'none' }],
  ['not at all when no row is an object', '[1,"a"]', {}, { source: 'none' }],
  [
    'from the first row that could be read, however late it comes',
    `${'{"a":}\n'.repeat(1000)}{"room_id":"1"}`,
    {},
    { source: 'inferred', name: 'rename-room' },
  ],
  [
    'by --operation though no row could be read',
    '{"a":}\n{"a":}',
    { operation: 'rename-room' },
    { source: 'option', name: 'rename-room' },
  ],
])('the operation is chosen %s', async (_title, content, options, choice) => {
  expect((await prepareAll(content, options)).preparer.choice).toEqual(choice);
});

test.each<[title: string, content: string, options: Options, code: string, message: string | RegExp]>([
  [
    '--operation is unknown',
    'room_id\n1\n',
    { operation: 'rename' },
    'UNKNOWN_OPERATION',
    '--operation rename: unknown; use one of close-ticket, rename-room',
  ],
  [
    'the manifest says an unknown one',
    '{"operation":"rename","rows":[{"x":1}]}',
    {},
    'MANIFEST_UNKNOWN_OPERATION',
    'a: "operation": "rename" is unknown; use one of close-ticket, rename-room',
  ],
  [
    'the manifest and --operation differ',
    '{"operation":"rename-room","rows":[{"x":1}]}',
    { operation: 'close-ticket' },
    'MANIFEST_OPERATION_MISMATCH',
    'a says it is for rename-room, --operation says close-ticket; remove one of them',
  ],
  [
    'no operation fits the columns',
    'ticket_id,roomid\n1,2\n',
    {},
    'MANIFEST_OPERATION_UNCLEAR',
    'a: can\'t tell what to do with the columns "ticket_id", "roomid": ' +
      'for close-ticket, user_id is missing (--default user_id=VALUE gives it for all rows); for rename-room, room_id is missing (if it is "roomid", ' +
      'pass --map "roomid=room_id"). ' +
      'Add what is missing, or add a column "operation"',
  ],
  [
    'rows have no columns',
    '[{},{"_row":1}]',
    {},
    'MANIFEST_OPERATION_UNCLEAR',
    /^a: can't tell what to do with rows that have no columns: for close-ticket, /,
  ],
  [
    'several operations fit the columns',
    'ticket_id,user_id,room_id\n1,2,3\n',
    {},
    'MANIFEST_OPERATION_UNCLEAR',
    /: the columns fit close-ticket, rename-room\. Pass --operation, or add a column "operation"$/,
  ],
  [
    'two columns stand for a field',
    'room_id,Title,note,title\n1,a,b,c\n',
    {},
    'MANIFEST_AMBIGUOUS_COLUMN',
    'a: columns "Title" and "title" both stand for title; rename or delete one',
  ],
  [
    'two columns give the operation',
    'Operation,operation,room_id\n,,1\n',
    {},
    'MANIFEST_AMBIGUOUS_COLUMN',
    /both stand for operation/,
  ],
  [
    'a default has an unknown field',
    '{"defaults":{"titel":"x"},"rows":[{"room_id":"1"}]}',
    {},
    'MANIFEST_DEFAULTS',
    'a: "defaults": titel is not a field of any operation; rename or delete it',
  ],
])('a manifest is refused when %s', async (_title, content, options, code, message) => {
  await expect(prepareAll(content, options)).rejects.toMatchObject({
    kind: 'usage',
    code,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

test('rows in a member of the only row are suggested', async () => {
  await expect(prepareAll('{"total":2,"data":[{"room_id":1},{"room_id":2}]}')).rejects.toThrow(
    /: the rows seem to be in "data"; pass --rows-at data$/,
  );
});

test.each(['close-ticket', 'Close Ticket', 'close_ticket', 'closeTicket', 'CLOSE-TICKET'])(
  '%j names close-ticket',
  (text) => {
    expect(findByLooseName(text, testOperations)?.name).toBe('close-ticket');
  },
);
