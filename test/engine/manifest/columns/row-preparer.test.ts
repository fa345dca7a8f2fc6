import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { createRowPreparer, type PreparedRow } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import type { CallableRow } from '../../../../src/engine/rows/row.ts';
import { prepareAll, testOperations } from '../operations.ts';
import { allRows, openText } from '../reading.ts';

test.each<[title: string, content: string, problem: RegExp]>([
  ['broken', '{"ticket_id":}\n{"ticket_id":1,\n', /^is not JSON: .*\(character 14 of the line\)$/],
  [
    'nested too deeply',
    `{"a":${'['.repeat(600)}${']'.repeat(600)}}`,
    /^is not JSON: JSON is nested deeper than 512 levels \(character 517 of the line\)$/,
  ],
  ['no objects', '"x"\n[2]', /^is not a JSON object/],
])('rows of JSON Lines that are all %s have their real problem', async (_title, content, problem) => {
  const manifest = await openText('a.jsonl', content);
  const [row] = (await allRows(manifest)).map(createRowPreparer({ manifest, operations: testOperations }));
  expect(row).toMatchObject({
    kind: 'invalid',
    line: 1,
    problems: [{ problem: expect.stringMatching(problem) }],
  });
});

test('a row is invalid if the operation throws at it: the problem names the operation, and other rows are checked', async () => {
  const manifest = await openText('a.csv', 'ticket_id,user_id\n7,u\n8,u\n9,u\n');
  const [first] = testOperations;
  if (first === undefined) throw new Error('there is an operation');
  const failing = {
    ...first,
    request(row: Parameters<typeof first.request>[0]) {
      if (row['ticket_id'] === '8') throw new Error('why');
      return first.request(row);
    },
  };
  const rows = (await allRows(manifest)).map(createRowPreparer({ manifest, operations: [failing] }));
  expect(rows.map(({ kind }) => kind)).toEqual(['callable', 'invalid', 'callable']);
  expect(rows[1]).toMatchObject({ line: 3, problems: [{ problem: `${first.name}: why` }] });
});

const brief = (row: PreparedRow) =>
  row.kind === 'callable'
    ? `${row.row} ${row.operation.name} ${row.request.body}`
    : `${row.row} ${row.operation?.name ?? '-'} ${row.problems.map((each) => `${each.column ?? ''}: ${each.problem} (${each.value ?? ''})`)}`;

test('a row becomes a call with its subject and request', async () => {
  const { rows } = await prepareAll('Ticket ID,userId,note\n7,u,x\n');
  expect(rows).toEqual([
    {
      kind: 'callable',
      row: 1,
      line: 2,
      operation: testOperations[0],
      subject: '7',
      request: { path: '/close', body: '{"ticket_id":"7","user_id":"u"}' },
      values: { ticket_id: '7', user_id: 'u' },
    },
  ]);
});

test('two columns may stand for a field that the operation does not have', async () => {
  const { rows } = await prepareAll('room_id,title,User ID,user_id\n1,a,b,c\n');
  expect(rows.map(brief)).toEqual(['1 rename-room {"room_id":"1","title":"a"}']);
});

test('each row of a mixed manifest has its own operation', async () => {
  const { rows } = await prepareAll(
    [
      'operation,ticket_id,user_id,room_id,title',
      'close-ticket,1,u,,',
      'Rename_Room,,,2,t',
      'rename,,,3,t',
      ',4,u,,',
      'close-ticket,,u,5,t',
    ].join('\n'),
  );
  expect(rows.map(brief)).toEqual([
    '1 close-ticket {"ticket_id":"1","user_id":"u"}',
    '2 rename-room {"room_id":"2","title":"t"}',
    '3 - operation: is unknown; name one of close-ticket, rename-room (rename)',
    '4 - operation: is missing; name one of close-ticket, rename-room ()',
    expect.stringMatching(/^5 close-ticket ticket_id: /),
  ]);
});

test('a row that differs from --operation is invalid, an empty cell takes it', async () => {
  const { rows } = await prepareAll(
    'Op_eration,operation,room_id,title\n,close-ticket,1,t\n,,2,t\n,rename-room,3,t\n',
    {
      operation: 'rename-room',
    },
  );
  expect(rows.map(brief)).toEqual([
    '1 close-ticket operation: differs from --operation rename-room (close-ticket)',
    '2 rename-room {"room_id":"2","title":"t"}',
    '3 rename-room {"room_id":"3","title":"t"}',
  ]);
});

test('JSON rows may name another operation than the manifest', async () => {
  const { rows } = await prepareAll(
    '{"operation":"rename-room","defaults":{"user_id":"u"},"rows":[{"room_id":"1","title":""},{"operation":"close-ticket","ticket_id":"2"},{"operation":7}]}',
  );
  expect(rows.map(brief)).toEqual([
    '1 rename-room {"room_id":"1","title":""}',
    '2 close-ticket {"ticket_id":"2","user_id":"u"}',
    '3 - operation: is unknown; name one of close-ticket, rename-room (7)',
  ]);
});

test('values come from the row, else --default, else the defaults of the manifest', async () => {
  const content =
    '{"defaults":{"User ID":"d"},"rows":[{"ticket_id":"1","userId":"r"},{"ticket_id":"2","user_id":null},{"ticket_id":"3"}]}';
  expect((await prepareAll(content)).rows.map(brief)).toEqual([
    '1 close-ticket {"ticket_id":"1","user_id":"r"}',
    '2 close-ticket {"ticket_id":"2","user_id":"d"}',
    '3 close-ticket {"ticket_id":"3","user_id":"d"}',
  ]);
  expect((await prepareAll(content, { defaults: { 'User ID': 'o' } })).rows.map(brief)).toEqual([
    '1 close-ticket {"ticket_id":"1","user_id":"r"}',
    '2 close-ticket {"ticket_id":"2","user_id":"o"}',
    '3 close-ticket {"ticket_id":"3","user_id":"o"}',
  ]);
});

test('a default for an unknown field is refused', async () => {
  await expect(prepareAll('ticket_id\n1\n', { defaults: { user: 'u' } })).rejects.toMatchObject({
    ...{ kind: 'usage', code: 'DEFAULT_UNKNOWN_FIELD' },
    message: '--default "user=u": user is not a field; use one of ticket_id, user_id, room_id, title, floor',
  });
});

test('an empty cell is left out, the clear token sends the empty string', async () => {
  const { rows } = await prepareAll('room_id,title,floor\n1,,2\n2,<clear>,\n3,,\n');
  expect(rows.map(brief)).toEqual([
    '1 rename-room {"room_id":"1","floor":"2"}',
    '2 rename-room {"room_id":"2","title":""}',
    '3 rename-room : changes nothing ()',
  ]);
  expect(rows.map((row) => row.kind === 'callable' && row.values)).toEqual([
    { room_id: '1', floor: '2' },
    { room_id: '2', title: '' },
    false,
  ]);
});

test('problems name the original column and a short value, one for each field', async () => {
  const { rows } = await prepareAll(`TICKET ID,User Id\n${'é'.repeat(100)},\n"a\nb",u\n`);
  expect(rows).toEqual([
    {
      kind: 'invalid',
      row: 1,
      line: 2,
      operation: testOperations[0],
      problems: [
        {
          column: 'TICKET ID',
          problem: 'must be a whole number from 0 to 9223372036854775807, in digits only',
          value: `${'é'.repeat(60)}…`,
        },
        {
          column: 'User Id',
          problem: 'is empty in this row; fill it in, or pass --default user_id=VALUE',
        },
      ],
    },
    {
      kind: 'invalid',
      row: 2,
      line: 3,
      operation: testOperations[0],
      problems: [
        {
          column: 'TICKET ID',
          problem: 'must be a whole number from 0 to 9223372036854775807, in digits only',
          value: 'a\\nb',
        },
      ],
    },
  ]);
});

test('a JSON row with two keys for a field is invalid, if the operation has it and both have a value', async () => {
  const { rows } = await prepareAll(
    '[{"room_id":"1","title":"a","Title":"b"},{"room_id":"2","title":null,"Title":"b"},{"roomId":"3","title":"c","userId":1,"user_id":2},{"userId":1,"user_id":2,"room_id":"4","roomId":"5"},{"room_id":"6","title":"d","operation":"rename-room","Operation":"close-ticket"}]',
    { operation: 'rename-room' },
  );
  expect(rows.map(brief)).toEqual([
    '1 rename-room Title: another column also gives title; keep one of them ()',
    '2 rename-room {"room_id":"2","title":"b"}',
    '3 rename-room {"room_id":"3","title":"c"}',
    '4 rename-room roomId: another column also gives room_id; keep one of them ()',
    '5 rename-room Operation: another column also gives operation; keep one of them ()',
  ]);
});

test('a damaged record is invalid with its own problem alone', async () => {
  const { rows } = await prepareAll('room_id,title\n1\nx,y,z\n');
  expect(rows.map(brief)).toEqual([
    '1 rename-room : has 1 cell, the header has 2; is the line cut off? ()',
    expect.stringMatching(/^2 rename-room : has 3 cells, .* \(z\)$/),
  ]);
});

test.each<[title: string, content: string, old: object | undefined]>([
  [
    'in any spelling',
    'room_id,title,Old Title,oldFloor,old_room_id\n1,a,b,c,9\n',
    { title: 'b', floor: 'c' },
  ],
  ['where they are given', 'room_id,title,old_title\n1,a,\n', undefined],
  ['that were empty', 'room_id,title,old_title\n1,a,<clear>\n', { title: '' }],
  ['of an operation that takes none', 'ticket_id,user_id,old_user_id\n1,a,b\n', undefined],
])('old values are taken %s, and never sent', async (_title, content, old) => {
  const { rows } = await prepareAll(content);
  expect(rows).toMatchObject([{ kind: 'callable' }]);
  const [row] = rows as readonly CallableRow[];
  expect(row?.old).toEqual(old);
  expect(row?.request.body).not.toMatch(/old|b|c"/);
});

test('a column stands for an old value when --map says so', async () => {
  const { rows } = await prepareAll('room_id,title,Before\n1,a,b\n', { map: { Before: 'old_title' } });
  expect(rows).toMatchObject([{ values: { room_id: '1', title: 'a' }, old: { title: 'b' } }]);
});

test('an old value that cannot be restored makes a row invalid, by its own column', async () => {
  const manifest = await openText(
    'a.jsonl',
    '{"soundboard_id":1,"title":"a","Old file size":1.5,"old_title":3}\n',
  );
  const [row] = (await allRows(manifest)).map(createRowPreparer({ manifest, operations }));
  expect(row).toMatchObject({
    kind: 'invalid',
    problems: [
      { column: 'old_title', problem: 'must be text; in JSON write it in quotes', value: '3' },
      { column: 'Old file size', value: '1.5' },
    ],
  });
});

test('two columns for one old value are refused, in JSON for each row', async () => {
  await expect(prepareAll('room_id,title,old_title,Old Title\n1,a,b,c\n')).rejects.toMatchObject({
    code: 'MANIFEST_AMBIGUOUS_COLUMN',
  });
});
