import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { createRowPreparer, type PreparedRow } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import type { Operation } from '../../../../src/engine/operation/operation.ts';
import { requestOfValues } from '../../../../src/engine/operation/shown-request.ts';
import type { CallableRow } from '../../../../src/engine/rows/row.ts';
import { type Options, prepareAll, testOperations } from '../operations.ts';
import { allRows, openText } from '../reading.ts';

async function prepareFor(operations: readonly Operation[], name: string, content: string) {
  const manifest = await openText(name, content);
  return (await allRows(manifest)).map(createRowPreparer({ manifest, operations }));
}

test.each<[title: string, content: string, problem: RegExp]>([
  ['broken', '{"ticket_id":}\n{"ticket_id":1,\n', /^is not JSON: .*\(character 14 of the line\)$/],
  ['no objects', '"x"\n[2]', /^is not a JSON object/],
])('rows of JSON Lines that are all %s have their real problem', async (_title, content, problem) => {
  const [row] = await prepareFor(testOperations, 'a.jsonl', content);
  const problems = [{ problem: expect.stringMatching(problem) }];
  expect(row).toMatchObject({ kind: 'invalid', line: 1, problems });
});

test('a row is invalid if the operation throws at it: the problem names the operation, and other rows are checked', async () => {
  const [first] = testOperations;
  const failing: Operation = {
    ...first,
    request(row) {
      if (row['ticket_id'] === '8') throw new Error('why');
      return first.request(row);
    },
  };
  const rows = await prepareFor([failing], 'a.csv', 'ticket_id,user_id\n7,u\n8,u\n9,u\n');
  expect(rows.map(({ kind }) => kind)).toEqual(['callable', 'invalid', 'callable']);
  expect(rows[1]).toMatchObject({ line: 3, problems: [{ problem: `${first.name}: why` }] });
});

const bodyOf = ({ operation, values }: CallableRow) =>
  requestOfValues(testOperations, { operation: operation.name, values }).body;

type Outcome =
  | { readonly calls: string; readonly body: Readonly<Record<string, string>> }
  | {
      readonly invalid: string | undefined;
      readonly column?: string;
      readonly problem: unknown;
      readonly value?: string;
    };

/** What becomes of a row: the call, or its only problem. */
function outcomeOf(row: PreparedRow): Outcome {
  if (row.kind === 'callable') return { calls: row.operation.name, body: JSON.parse(bodyOf(row) ?? '') };
  expect(row.problems).toHaveLength(1);
  return { invalid: row.operation?.name, ...row.problems[0] } as Outcome;
}

const namesKnown = 'name one of close-ticket, rename-room';
const unknownOperation = `is unknown; ${namesKnown}, or pass --operations with its module`;
const twice = (field: string) => `another column also gives ${field}; keep one of them`;

interface Case {
  readonly title: string;
  readonly manifest: string;
  /** `--operation` */
  readonly operation?: string;
  /** In the order of the rows. */
  readonly outcomes: readonly Outcome[];
}

test.each<Case>([
  {
    title: 'each row of a mixed manifest has its own operation, or its own problem',
    manifest: [
      'operation,ticket_id,user_id,room_id,title',
      'close-ticket,1,u,,',
      'Rename_Room,,,2,t',
      'rename,,,3,t',
      ',4,u,,',
      'close-ticket,,u,5,t',
      'rename-room,,,6,',
      'rename-room,7',
    ].join('\n'),
    outcomes: [
      { calls: 'close-ticket', body: { ticket_id: '1', user_id: 'u' } },
      { calls: 'rename-room', body: { room_id: '2', title: 't' } },
      { invalid: undefined, column: 'operation', problem: unknownOperation, value: 'rename' },
      { invalid: undefined, column: 'operation', problem: `is missing; ${namesKnown}` },
      {
        invalid: 'close-ticket',
        column: 'ticket_id',
        problem: expect.stringContaining('is empty in this row'),
      },
      { invalid: 'rename-room', problem: 'changes nothing' },
      { invalid: 'rename-room', problem: 'has 2 cells, the header has 5; is the line cut off?' },
    ],
  },
  {
    title: 'a row that differs from --operation is invalid, an empty cell takes it',
    manifest: 'Op_eration,operation,room_id,title\n,close-ticket,1,t\n,,2,t\n,rename-room,3,t',
    operation: 'rename-room',
    outcomes: [
      {
        invalid: 'close-ticket',
        column: 'operation',
        problem: 'differs from --operation rename-room',
        value: 'close-ticket',
      },
      { calls: 'rename-room', body: { room_id: '2', title: 't' } },
      { calls: 'rename-room', body: { room_id: '3', title: 't' } },
    ],
  },
  {
    title: 'JSON rows may name another operation than the manifest',
    manifest: JSON.stringify({
      operation: 'rename-room',
      defaults: { user_id: 'u' },
      rows: [{ room_id: '1', title: '' }, { operation: 'close-ticket', ticket_id: '2' }, { operation: 7 }],
    }),
    outcomes: [
      { calls: 'rename-room', body: { room_id: '1', title: '' } },
      { calls: 'close-ticket', body: { ticket_id: '2', user_id: 'u' } },
      { invalid: undefined, column: 'operation', problem: unknownOperation, value: '7' },
    ],
  },
  {
    title: 'a row with two keys for a field is invalid, if the operation has it and both have a value',
    manifest: JSON.stringify([
      { room_id: '1', title: 'a', Title: 'b' },
      { room_id: '2', title: null, Title: 'b' },
      { roomId: '3', title: 'c', userId: 1, user_id: 2 },
      { userId: 1, user_id: 2, room_id: '4', roomId: '5' },
      { room_id: '6', operation: 'rename-room', Operation: 'close-ticket' },
    ]),
    operation: 'rename-room',
    outcomes: [
      { invalid: 'rename-room', column: 'Title', problem: twice('title') },
      { calls: 'rename-room', body: { room_id: '2', title: 'b' } },
      { calls: 'rename-room', body: { room_id: '3', title: 'c' } },
      { invalid: 'rename-room', column: 'roomId', problem: twice('room_id') },
      { invalid: 'rename-room', column: 'Operation', problem: twice('operation') },
    ],
  },
])('$title', async ({ manifest, operation, outcomes }) => {
  const { rows } = await prepareAll(manifest, { operation });
  expect(rows.map(({ row }) => row)).toEqual(outcomes.map((_, index) => index + 1));
  expect(rows.map(outcomeOf)).toEqual(outcomes);
});

test.each([
  { title: 'of the manifest', options: {}, value: 'd' },
  {
    title: 'by --default, before those of the manifest',
    options: { defaults: { 'User ID': 'o' } },
    value: 'o',
  },
])('a field without a value takes the default $title', async ({ options, value }) => {
  const rows = [{ ticket_id: '1', userId: 'r' }, { ticket_id: '2', user_id: null }, { ticket_id: '3' }];
  const content = JSON.stringify({ defaults: { 'User ID': 'd' }, rows });
  const prepared = (await prepareAll(content, options)).rows.map(outcomeOf);
  expect(prepared).toEqual([
    { calls: 'close-ticket', body: { ticket_id: '1', user_id: 'r' } },
    { calls: 'close-ticket', body: { ticket_id: '2', user_id: value } },
    { calls: 'close-ticket', body: { ticket_id: '3', user_id: value } },
  ]);
});

test('a default for an unknown field is refused', async () => {
  await expect(prepareAll('ticket_id\n1\n', { defaults: { user: 'u' } })).rejects.toMatchObject({
    kind: 'usage',
    code: 'DEFAULT_UNKNOWN_FIELD',
    message: '--default "user=u": user is not a field; use one of ticket_id, user_id, room_id, title, floor',
  });
});

test('problems name the original column and a short value, one for each field', async () => {
  const { rows } = await prepareAll(`TICKET ID,User Id\n${'é'.repeat(100)},\n"a\nb",u\n`);
  const invalid = { kind: 'invalid', operation: testOperations[0] };
  const problem = 'must be a whole number from 0 to 9223372036854775807, in digits only';
  const noUser = 'is empty in this row; fill it in, or pass --default user_id=VALUE';
  const first = [
    { column: 'TICKET ID', problem, value: `${'é'.repeat(60)}…` },
    { column: 'User Id', problem: noUser },
  ];
  expect(rows).toEqual([
    { ...invalid, row: 1, line: 2, problems: first },
    { ...invalid, row: 2, line: 3, problems: [{ column: 'TICKET ID', problem, value: 'a\\nb' }] },
  ]);
});

interface OldValues {
  readonly title: string;
  readonly manifest: string;
  readonly options?: Options;
  readonly old: object | undefined;
}

test.each<OldValues>([
  {
    title: 'in any spelling',
    manifest: 'room_id,title,Old Title,oldFloor,old_room_id\n1,a,b,c,9\n',
    old: { title: 'b', floor: 'c' },
  },
  { title: 'where they are given', manifest: 'room_id,title,old_title\n1,a,\n', old: undefined },
  { title: 'that were empty', manifest: 'room_id,title,old_title\n1,a,<clear>\n', old: { title: '' } },
  {
    title: 'where --map says so',
    manifest: 'room_id,title,Before\n1,a,b\n',
    options: { map: { Before: 'old_title' } },
    old: { title: 'b' },
  },
])('old values are taken $title, and never sent', async ({ manifest, options, old }) => {
  const [row, ...others] = (await prepareAll(manifest, options)).rows;
  if (row?.kind !== 'callable') throw new Error('not callable');
  expect([row.old, others]).toEqual([old, []]);
  expect(bodyOf(row)).not.toMatch(/old|b|c"/);
});

test('an old value that cannot be restored makes a row invalid, by its own column', async () => {
  const content = '{"soundboard_id":1,"title":"a","Old file size":1.5,"old_title":3}\n';
  const problems = [
    { column: 'old_title', problem: 'must be text; in JSON write it in quotes', value: '3' },
    { column: 'Old file size', value: '1.5' },
  ];
  expect(await prepareFor(operations, 'a.jsonl', content)).toMatchObject([{ kind: 'invalid', problems }]);
});
