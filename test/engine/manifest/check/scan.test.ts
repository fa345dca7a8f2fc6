import fc from 'fast-check';
import { expect, test } from 'vitest';

import { operations } from '../../../../jobs/index.ts';
import type { ConflictRule } from '../../../../src/domain/terms.ts';
import { type ScanHandlers, scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import type { ManifestRow } from '../../../../src/engine/manifest/manifest.ts';
import { openManifest } from '../../../../src/engine/manifest/open.ts';
import type { DecidedRow, InvalidRow, LeftOut } from '../../../../src/engine/rows/row.ts';
import { testOperations } from '../operations.ts';
import { openText } from '../reading.ts';

async function scan(name: string, content: string, handlers: ScanHandlers = {}) {
  const manifest = await openText(name, content);
  const preparer = createRowPreparer({ manifest, operations: testOperations });
  return scanManifest(manifest, preparer, handlers);
}

test('a row that leaves fields out is not partial where the API certainly keeps them', async () => {
  const operations = testOperations.map((operation) => ({ ...operation, keepsOmitted: true }));
  const manifest = await openText('a.csv', 'room_id,title\n1,t\n');
  const { callable, partial } = await scanManifest(manifest, createRowPreparer({ manifest, operations }));
  expect([callable, partial]).toEqual([1, 0]);
  expect(await scan('a.csv', 'room_id,title\n1,t\n')).toMatchObject({ callable: 1, partial: 1 });
});

test('counts every row once, in all and by operation', async () => {
  const content = [
    'operation,ticket_id,user_id,room_id,title',
    'close-ticket,1,u,,',
    'close-ticket,1,u,,',
    'close-ticket,1,v,,',
    'close-ticket,1,v,,',
    'rename-room,,,1,t',
    'rename-room,,,x,t',
    'paint-room,,,1,t',
    'close-ticket,1',
  ].join('\n');
  const invalid: InvalidRow[] = [];
  const decided: [number, DecidedRow['kind'], LeftOut?][] = [];
  const given: ManifestRow['cells'][] = [];
  const summary = await scan('a.csv', content, {
    onInvalid: (row) => void invalid.push(row),
    onRow(row, { cells }) {
      decided.push(row.kind === 'left out' ? [row.row, row.kind, row.because] : [row.row, row.kind]);
      given.push(cells);
    },
  });
  const none = { superseded: 0, doneBefore: 0, conflicts: 0, partial: 0 };
  const total = { ...none, rows: 8, callable: 3, invalid: 3, duplicates: 2, conflicts: 1, partial: 1 };
  expect(summary).toEqual({
    ...total,
    leftOut: 0,
    roundedIds: [],
    perOperation: {
      'close-ticket': {
        ...none,
        ...{ rows: 5, callable: 2, invalid: 1, duplicates: 2, conflicts: 1 },
        thing: 'ticket',
        first: { row: 1, subject: '1' },
        last: { row: 3, subject: '1' },
        fields: {},
      },
      'rename-room': {
        ...none,
        ...{ rows: 2, callable: 1, invalid: 1, duplicates: 0, partial: 1 },
        thing: 'room',
        first: { row: 5, subject: '1' },
        last: { row: 5, subject: '1' },
        fields: {
          title: { given: 1, cleared: 0, absent: 0 },
          floor: { given: 0, cleared: 0, absent: 1 },
        },
      },
    },
    changedSubjects: 0,
    doneIn: new Map(),
    firstConflicts: [
      {
        operation: 'close-ticket',
        thing: 'ticket',
        subject: '1',
        row: 3,
        line: 4,
        firstRow: 1,
        firstLine: 2,
      },
    ],
    preview: [
      expect.objectContaining({ row: 1, subject: '1' }),
      expect.objectContaining({ row: 3, subject: '1' }),
      expect.objectContaining({ row: 5, subject: '1' }),
    ],
    columns: ['operation', 'ticket_id', 'user_id', 'room_id', 'title'],
    meanings: ['operation', 'ticket_id', 'user_id', 'room_id', 'title'].map((field) => ({
      column: field,
      field,
    })),
    warnings: [],
  });
  expect(invalid.map(({ row }) => row)).toEqual([6, 7, 8]);
  expect(decided).toEqual([
    [1, 'callable'],
    [2, 'left out', { why: 'duplicate', of: 1 }],
    [3, 'callable'],
    [4, 'left out', { why: 'duplicate', of: 3 }],
    [5, 'callable'],
    [6, 'invalid'],
    [7, 'invalid'],
    [8, 'invalid'],
  ]);
  expect(given.slice(4, 6)).toEqual([
    { operation: 'rename-room', room_id: '1', title: 't' },
    { operation: 'rename-room', room_id: 'x', title: 't' },
  ]);
});

test('counts the fields that the rows to be called set, and those that they clear', async () => {
  const rows = ['1,t,', '2,<clear>,', '3,t,<clear>', '3,t,<clear>', '4,t,5', 'x,t,5'];
  const { perOperation, partial } = await scan('a.csv', `room_id,title,floor\n${rows.join('\n')}\n`);
  expect(partial).toBe(2);
  expect(perOperation['rename-room']?.fields).toEqual({
    title: { given: 4, cleared: 1, absent: 0 },
    floor: { given: 2, cleared: 1, absent: 2 },
  });
});

const line = fc.record({
  operation: fc.constantFrom('close-ticket', 'rename-room', 'oops'),
  id: fc.constantFrom('1', '2', '3', 'x'),
  value: fc.constantFrom('a', 'b', 'c'),
});

test('agrees with a simple model for any rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      const rows = lines.map(({ operation, id, value }) =>
        operation === 'rename-room'
          ? { operation, room_id: id, title: value }
          : { operation, ticket_id: id, user_id: value },
      );
      const bySubject = new Map<string, number>();
      const byRequest = new Map<string, number>();
      const expected = { rows: 0, callable: 0, invalid: 0, duplicates: 0, conflicts: 0 };
      const expectedDuplicates: [number, number][] = [];
      for (const [index, { operation, id, value }] of lines.entries()) {
        expected.rows++;
        const subject = `${operation} ${id}`;
        const copy = byRequest.get(`${subject} ${value}`);
        if (operation === 'oops' || id === 'x') expected.invalid++;
        else if (copy !== undefined) {
          expected.duplicates++;
          expectedDuplicates.push([index + 1, copy]);
        } else {
          expected.callable++;
          if (bySubject.has(subject)) expected.conflicts++;
          else bySubject.set(subject, index + 1);
          byRequest.set(`${subject} ${value}`, index + 1);
        }
      }
      const duplicates: [number, number][] = [];
      const summary = await scan('a.json', JSON.stringify(rows), {
        onRow(row) {
          if (row.kind === 'left out' && row.because.why === 'duplicate')
            duplicates.push([row.row, row.because.of]);
        },
      });
      expect(summary).toMatchObject(expected);
      expect(duplicates).toEqual(expectedDuplicates);
      expect(summary.firstConflicts).toHaveLength(Math.min(5, expected.conflicts));
    }),
    { numRuns: 100 },
  );
});

test('waits for the handlers', async () => {
  const done: string[] = [];
  let busy = false;
  const slowly =
    (what: string) =>
    async ({ row }: { row: number }) => {
      expect(busy).toBe(false);
      busy = true;
      await new Promise((resolve) => setImmediate(resolve));
      busy = false;
      done.push(`${what} ${row}`);
    };
  const handlers = {
    onInvalid: slowly('invalid'),
    onRow: slowly('row'),
    onConflict: slowly('conflict'),
  };
  await scan('a.csv', 'room_id,title\nx,t\n1,t\n1,t\n1,u\n', handlers);
  expect(done).toEqual(['invalid 1', 'row 1', 'row 2', 'row 3', 'row 4', 'conflict 4']);
});

test('fails when a handler does, and when the manifest cannot be read to its end', async () => {
  const broken = () => Promise.reject(new Error('disk full'));
  for (const handlers of [{ onInvalid: broken }, { onRow: broken }])
    await expect(scan('a.csv', 'room_id,title\nx,t\n', handlers)).rejects.toThrow('disk full');
  const late = `room_id,title\n${'1,t\n'.repeat(50_000)}1,"t\n`;
  await expect(scan('a.csv', late)).rejects.toMatchObject({ code: 'MANIFEST_SYNTAX' });
});

test('warns of columns with almost the name of a field', async () => {
  const summary = await scan('a.csv', 'room_id,titel,floor,user_idd,note,Operatoin\n1,t,2,u,n,\n');
  expect(summary.warnings).toEqual([
    {
      code: 'COLUMN_RESEMBLES_FIELD',
      message: 'column "titel" matches no field and is not sent; if it is title, pass --map "titel=title"',
    },
    {
      code: 'COLUMN_RESEMBLES_FIELD',
      message:
        'column "Operatoin" matches no field and is not sent; if it is operation, pass --map "Operatoin=operation"',
    },
  ]);
});

test('a column that is probably meant for a missing field is reported once, with the option to paste', async () => {
  const manifest = await openText('a.csv', 'roomid,title,Nr\n1,t,2\n');
  const map = { Name: 'floor' };
  const preparer = createRowPreparer({ manifest, operations: testOperations, operation: 'rename-room', map });
  expect((await scanManifest(manifest, preparer)).warnings).toEqual([
    {
      code: 'COLUMN_MISSING',
      message: 'no column for room_id; if it is "roomid", pass --map "roomid=room_id"',
    },
    { code: 'MAP_UNUSED', message: '--map names the column "Name", which the manifest does not have' },
  ]);
});

test('warns of columns that only late JSON rows have', async () => {
  const content = `${'{"room_id":"1","title":"t"}\n'.repeat(20_000)}{"room_id":"2","tittle":"t"}`;
  expect((await scan('a.jsonl', content)).warnings).toMatchObject([
    { message: expect.stringMatching(/^column "tittle" .* if it is title, /) },
  ]);
});

test.each<[file: string, counts: object]>([
  ['mixed.csv', { rows: 201, callable: 200, invalid: 0, duplicates: 1, conflicts: 0 }],
  ['restore-evaluations.csv', { rows: 30, callable: 30, partial: 0 }],
  ['restore-evaluations.json', { rows: 3, callable: 3, partial: 0 }],
  ['update-soundboards.csv', { rows: 12, callable: 12, partial: 12 }],
  ['update-soundboards.jsonl', { rows: 3, callable: 3, partial: 2 }],
])('examples/%s can be run as it is', async (file, counts) => {
  const manifest = await openManifest(`examples/${file}`);
  const summary = await scanManifest(manifest, createRowPreparer({ manifest, operations }));
  expect(summary).toMatchObject({ ...counts, warnings: [] });
});

test('warns of blanks around texts that are sent', async () => {
  const content = 'room_id,title,floor\n1,a ,\n2,b, 2\n3, c,\n3, c,\n';
  expect((await scan('a.csv', content)).warnings).toEqual([
    {
      code: 'BLANKS_AROUND_TEXT',
      message: '2 rows have white space around title (first: row 1), which is sent too; --trim removes it',
    },
    {
      code: 'BLANKS_AROUND_TEXT',
      message: '1 row has white space around floor (row 2), which is sent too; --trim removes it',
    },
  ]);
});

test.each<[ConflictRule, number, Record<string, readonly (readonly number[])[]>]>([
  [
    'refuse',
    0,
    {
      callable: [[1], [2], [6]],
      duplicate: [
        [3, 1],
        [4, 1],
        [5, 2],
      ],
      conflict: [[2, 1]],
    },
  ],
  [
    'in-order',
    1,
    {
      callable: [[1], [2], [3], [5], [6]],
      duplicate: [[4, 3]],
      conflict: [
        [2, 1],
        [3, 2],
        [5, 3],
      ],
    },
  ],
  [
    'last',
    1,
    {
      callable: [[5], [6]],
      superseded: [
        [1, 5],
        [2, 5],
        [3, 5],
        [4, 5],
      ],
    },
  ],
])('of x, y, x, x, y the rule %s calls the right rows', async (onConflict, changedSubjects, expected) => {
  const content = `room_id,title\n${['x', 'y', 'x', 'x', 'y'].map((title) => `1,${title}\n`).join('')}2,x\n`;
  const manifest = await openText('a.csv', content);
  const prepare = createRowPreparer({ manifest, operations: testOperations });
  const found: Record<string, (readonly number[])[]> = {};
  const find = (kind: string, ...rows: readonly number[]) => {
    found[kind] = [...(found[kind] ?? []), rows];
  };
  const handlers: ScanHandlers = {
    onRow(row) {
      if (row.kind !== 'left out') return find(row.kind, row.row);
      const { because } = row;
      if (because.why === 'duplicate') find('duplicate', row.row, because.of);
      else if (because.why === 'superseded') find('superseded', row.row, because.by);
    },
    onConflict: ({ row, firstRow }) => find('conflict', row, firstRow),
  };
  const summary = await scanManifest(manifest, prepare, handlers, { onConflict });
  expect(found).toEqual(expected);
  expect(summary).toMatchObject({
    rows: 6,
    callable: expected['callable']?.length,
    duplicates: expected['duplicate']?.length ?? 0,
    superseded: expected['superseded']?.length ?? 0,
    conflicts: expected['conflict']?.length ?? 0,
    changedSubjects,
  });
  expect(summary.preview.map(({ row }) => [row])).toEqual(expected['callable']?.slice(0, 3));
});
