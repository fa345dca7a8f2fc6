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

const brief = (row: PreparedRow) =>
  row.kind === 'callable'
    ? `${row.operation.name} ${bodyOf(row)}`
    : `${row.operation?.name ?? '-'} ${row.problems.map((each) => `${each.column ?? ''}: ${each.problem} (${each.value ?? ''})`)}`;

const csvOf = (header: string) => (rows: readonly string[]) => [header, ...rows].join('\n');
const wrapped = (rows: readonly string[]) =>
  `{"operation":"rename-room","defaults":{"user_id":"u"},"rows":[${rows}]}`;
const twice = (column: string, field: string) =>
  `rename-room ${column}: another column also gives ${field}; keep one of them ()`;
const known = 'name one of close-ticket, rename-room';

type Case = [
  what: string,
  write: (rows: readonly string[]) => string,
  rows: [row: string, outcome: unknown][],
  operation?: string,
];

test.each<Case>([
  [
    'each row of a mixed manifest has its own operation, or its own problem',
    csvOf('operation,ticket_id,user_id,room_id,title'),
    [
      ['close-ticket,1,u,,', 'close-ticket {"ticket_id":"1","user_id":"u"}'],
      ['Rename_Room,,,2,t', 'rename-room {"room_id":"2","title":"t"}'],
      ['rename,,,3,t', `- operation: is unknown; ${known} (rename)`],
      [',4,u,,', `- operation: is missing; ${known} ()`],
      ['close-ticket,,u,5,t', expect.stringMatching(/^close-ticket ticket_id: /)],
      ['rename-room,,,6,', 'rename-room : changes nothing ()'],
      ['rename-room,7', 'rename-room : has 2 cells, the header has 5; is the line cut off? ()'],
    ],
  ],
  [
    'a row that differs from --operation is invalid, an empty cell takes it',
    csvOf('Op_eration,operation,room_id,title'),
    [
      [',close-ticket,1,t', 'close-ticket operation: differs from --operation rename-room (close-ticket)'],
      [',,2,t', 'rename-room {"room_id":"2","title":"t"}'],
      [',rename-room,3,t', 'rename-room {"room_id":"3","title":"t"}'],
    ],
    'rename-room',
  ],
  [
    'JSON rows may name another operation than the manifest',
    wrapped,
    [
      ['{"room_id":"1","title":""}', 'rename-room {"room_id":"1","title":""}'],
      ['{"operation":"close-ticket","ticket_id":"2"}', 'close-ticket {"ticket_id":"2","user_id":"u"}'],
      ['{"operation":7}', `- operation: is unknown; ${known} (7)`],
    ],
  ],
  [
    'a row with two keys for a field is invalid, if the operation has it and both have a value',
    (rows) => `[${rows}]`,
    [
      ['{"room_id":"1","title":"a","Title":"b"}', twice('Title', 'title')],
      ['{"room_id":"2","title":null,"Title":"b"}', 'rename-room {"room_id":"2","title":"b"}'],
      ['{"roomId":"3","title":"c","userId":1,"user_id":2}', 'rename-room {"room_id":"3","title":"c"}'],
      ['{"userId":1,"user_id":2,"room_id":"4","roomId":"5"}', twice('roomId', 'room_id')],
      [
        '{"room_id":"6","operation":"rename-room","Operation":"close-ticket"}',
        twice('Operation', 'operation'),
      ],
    ],
    'rename-room',
  ],
])('%s', async (_what, write, cases, operation) => {
  const { rows } = await prepareAll(write(cases.map(([row]) => row)), { operation });
  expect(rows.map(({ row }) => row)).toEqual(cases.map((_, index) => index + 1));
  expect(rows.map(brief)).toEqual(cases.map(([, outcome]) => outcome));
});

test('values come from the row, else from --default, else from the defaults of the manifest', async () => {
  const rows = '[{"ticket_id":"1","userId":"r"},{"ticket_id":"2","user_id":null},{"ticket_id":"3"}]';
  const content = `{"defaults":{"User ID":"d"},"rows":${rows}}`;
  for (const [value, options] of [['d', {}] as const, ['o', { defaults: { 'User ID': 'o' } }] as const]) {
    const prepared = (await prepareAll(content, options)).rows.map(brief);
    const called = (id: string, user: string) => `close-ticket {"ticket_id":"${id}","user_id":"${user}"}`;
    expect(prepared).toEqual([called('1', 'r'), called('2', value), called('3', value)]);
  }
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

test.each<[title: string, content: string, old: object | undefined, options?: Options]>([
  [
    'in any spelling',
    'room_id,title,Old Title,oldFloor,old_room_id\n1,a,b,c,9\n',
    { title: 'b', floor: 'c' },
  ],
  ['where they are given', 'room_id,title,old_title\n1,a,\n', undefined],
  ['that were empty', 'room_id,title,old_title\n1,a,<clear>\n', { title: '' }],
  ['where --map says so', 'room_id,title,Before\n1,a,b\n', { title: 'b' }, { map: { Before: 'old_title' } }],
])('old values are taken %s, and never sent', async (_title, content, old, options) => {
  const [row, ...others] = (await prepareAll(content, options)).rows;
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
