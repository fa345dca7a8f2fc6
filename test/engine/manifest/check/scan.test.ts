import fc from 'fast-check';
import { expect, test } from 'vitest';

import { operations } from '../../../../jobs/index.ts';
import type { ConflictRule } from '../../../../src/domain/terms.ts';
import { type ScanHandlers, scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import type { ManifestRow } from '../../../../src/engine/manifest/manifest.ts';
import { openManifest } from '../../../../src/engine/manifest/open.ts';
import { defineOperation, type Operation } from '../../../../src/engine/operation/operation.ts';
import { testOperations } from '../operations.ts';
import { openText } from '../reading.ts';

async function scan(name: string, content: string, handlers: ScanHandlers = {}) {
  const manifest = await openText(name, content);
  const preparer = createRowPreparer({ manifest, operations: testOperations });
  return scanManifest(manifest, preparer, handlers);
}

test.each([
  { row: '1,t,', mayReset: true, partial: 1, case: 'a cell is empty' },
  { row: '1,t,2', mayReset: true, partial: 0, case: 'all fields are given' },
  { row: '1,t,<clear>', mayReset: true, partial: 0, case: 'a field is cleared' },
  { row: '1,t,', mayReset: false, partial: 0, case: 'the API keeps fields that a request leaves out' },
])('if $case, $partial rows are partial', async ({ row, mayReset, partial }) => {
  const operations = testOperations.map((operation) => ({ ...operation, mayReset }));
  const manifest = await openText('a.csv', `room_id,title,floor\n${row}\n`);
  const summary = await scanManifest(manifest, createRowPreparer({ manifest, operations }));
  expect(summary).toMatchObject({ callable: 1, partial });
});

test('a row is partial if the manifest has no column for a field', async () => {
  expect(await scan('a.csv', 'room_id,title\n1,t\n')).toMatchObject({ callable: 1, partial: 1 });
});

test('names the columns and the first conflicts, and hands each row with its cells to its handler', async () => {
  const content = [
    'operation,ticket_id,user_id,room_id,title',
    'close-ticket,1,u,,',
    'close-ticket,1,v,,',
    'rename-room,,,1,t',
    'rename-room,,,x,t',
  ].join('\n');
  const given: ManifestRow['cells'][] = [];
  const summary = await scan('a.csv', content, { onRow: (_, { cells }) => void given.push(cells) });
  const { columns, meanings, firstConflicts, roundedIds, warnings } = summary;
  const subject = { operation: 'close-ticket', thing: 'ticket', subject: '1' };
  expect(firstConflicts).toEqual([{ ...subject, row: 2, line: 3, firstRow: 1, firstLine: 2 }]);
  expect(columns).toEqual(['operation', 'ticket_id', 'user_id', 'room_id', 'title']);
  expect(meanings).toEqual(columns.map((field) => ({ column: field, field })));
  expect([roundedIds, warnings]).toEqual([[], []]);
  expect(given.slice(2)).toEqual([
    { operation: 'rename-room', room_id: '1', title: 't' },
    { operation: 'rename-room', room_id: 'x', title: 't' },
  ]);
});

const line = fc.record({
  operation: fc.constantFrom('close-ticket', 'rename-room', 'oops'),
  id: fc.constantFrom('1', '2', '3', 'x'),
  value: fc.constantFrom('a', 'b', 'c'),
});

/** What is decided of each row, as `3 duplicates 1`; the number alone of a row that is called. The summary counts the same. */
async function decisionsOn(name: string, content: string, onConflict?: ConflictRule) {
  const manifest = await openText(name, content);
  const prepare = createRowPreparer({ manifest, operations: testOperations });
  const found: string[] = [];
  const handlers: ScanHandlers = {
    onRow(row) {
      if (row.kind === 'callable') found.push(`${row.row}`);
      else if (row.kind === 'invalid') found.push(`${row.row} invalid`);
      else if (row.because.why === 'duplicate') found.push(`${row.row} duplicates ${row.because.of}`);
      else if (row.because.why === 'superseded') found.push(`${row.row} superseded ${row.because.by}`);
    },
    onConflict: ({ row, firstRow }) => void found.push(`${row} conflicts ${firstRow}`),
  };
  const summary = await scanManifest(manifest, prepare, handlers, { onConflict });
  const called = found.filter((each) => !each.includes(' '));
  expect(summary.callable).toBe(called.length);
  expect(summary.preview.slice(0, 3).map(({ row }) => `${row}`)).toEqual(called.slice(0, 3));
  for (const what of ['invalid', 'duplicates', 'superseded', 'conflicts'] as const)
    expect([what, summary[what]]).toEqual([what, found.filter((each) => each.includes(what)).length]);
  return { summary, found: found.join(', ') };
}

test('agrees with a simple model for any rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      const rows = lines.map(({ operation, id, value }) =>
        operation === 'rename-room'
          ? { operation, room_id: id, title: value }
          : { operation, ticket_id: id, user_id: value },
      );
      const expected = lines.flatMap(({ operation, id, value }, index) => {
        const row = index + 1;
        if (operation === 'oops' || id === 'x') return `${row} invalid`;
        const ofSubject = (other: (typeof lines)[number]) => other.operation === operation && other.id === id;
        const copy = 1 + lines.findIndex((other) => ofSubject(other) && other.value === value);
        if (copy < row) return `${row} duplicates ${copy}`;
        const first = 1 + lines.findIndex(ofSubject);
        return first < row ? [`${row}`, `${row} conflicts ${first}`] : `${row}`;
      });
      const { found, summary } = await decisionsOn('a.json', JSON.stringify(rows));
      expect(found).toBe(expected.join(', '));
      expect(summary.rows).toBe(rows.length);
      expect(summary.firstConflicts).toHaveLength(Math.min(5, summary.conflicts));
    }),
    { numRuns: 100 },
  );
});

test('fails when a handler does, and when the manifest cannot be read to its end', async () => {
  const broken = () => Promise.reject(new Error('disk full'));
  for (const handlers of [{ onInvalid: broken }, { onRow: broken }])
    await expect(scan('a.csv', 'room_id,title\nx,t\n', handlers)).rejects.toThrow('disk full');
  const late = `room_id,title\n${'1,t\n'.repeat(50_000)}1,"t\n`;
  await expect(scan('a.csv', late)).rejects.toMatchObject({ code: 'MANIFEST_SYNTAX' });
});

/** The warnings of a plan, as `CODE: message`. */
async function warningsOf(...[name, content]: Parameters<typeof scan>): Promise<readonly string[]> {
  return (await scan(name, content)).warnings.map(({ code, message }) => `${code}: ${message}`);
}

test('warns of columns with almost the name of a field', async () => {
  const unsent = (column: string, field: string) =>
    `COLUMN_RESEMBLES_FIELD: column "${column}" matches no field and is not sent; if it is ${field}, pass --map "${column}=${field}"`;
  const content = 'room_id,titel,floor,user_idd,note,Operatoin\n1,t,2,u,n,\n';
  expect(await warningsOf('a.csv', content)).toEqual([
    unsent('titel', 'title'),
    unsent('Operatoin', 'operation'),
  ]);
});

test('a column that is probably meant for a missing field is reported once, with the option to paste', async () => {
  const manifest = await openText('a.csv', 'roomid,title,Nr\n1,t,2\n');
  // A column has one of these titles, written in another way.
  const map = { Name: 'floor', NR: 'user_id' };
  const preparer = createRowPreparer({ manifest, operations: testOperations, operation: 'rename-room', map });
  const missing = 'no column for room_id; if it is "roomid", pass --map "roomid=room_id"';
  expect((await scanManifest(manifest, preparer)).warnings).toEqual([
    { code: 'COLUMN_MISSING', message: missing },
    { code: 'MAP_UNUSED', message: '--map names the column "Name", which the manifest does not have' },
  ]);
});

test.each<[file: string, counts: object]>([
  ['mixed.csv', { rows: 201, callable: 200, invalid: 0, duplicates: 1, conflicts: 0 }],
  ['restore-evaluations.csv', { rows: 30, callable: 30, partial: 0 }],
  ['update-soundboards.csv', { rows: 12, callable: 12, partial: 12 }],
  ['update-soundboards.jsonl', { rows: 3, callable: 3, partial: 2 }],
])('examples/%s can be run as it is', async (file, counts) => {
  const manifest = await openManifest(`examples/${file}`);
  const summary = await scanManifest(manifest, createRowPreparer({ manifest, operations }));
  expect(summary).toMatchObject({ ...counts, warnings: [] });
});

test('warns of blanks around texts that are sent', async () => {
  const around = (rows: string, field: string, row: string) =>
    `BLANKS_AROUND_TEXT: ${rows} white space around ${field} (${row}), which is sent too; --trim removes it`;
  expect(await warningsOf('a.csv', 'room_id,title,floor\n1,a ,\n2,b, 2\n3, c,\n3, c,\n')).toEqual([
    around('2 rows have', 'title', 'first: row 1, line 2'),
    around('1 row has', 'floor', 'row 2, line 3'),
  ]);
});

test.each<[ConflictRule, changedSubjects: number, expected: string]>([
  ['refuse', 0, '1, 2, 2 conflicts 1, 3 duplicates 1, 4 duplicates 1, 5 duplicates 2, 6'],
  ['in-order', 1, '1, 2, 2 conflicts 1, 3, 3 conflicts 2, 4 duplicates 3, 5, 5 conflicts 3, 6'],
  ['last', 1, '1 superseded 5, 2 superseded 5, 3 superseded 5, 4 superseded 5, 5, 6'],
])('of x, y, x, x, y the rule %s calls the right rows', async (onConflict, changedSubjects, expected) => {
  const content = `room_id,title\n${[...'xyxxy'].map((title) => `1,${title}\n`).join('')}2,x\n`;
  const { found, summary } = await decisionsOn('a.csv', content, onConflict);
  expect(found).toBe(expected);
  expect(summary).toMatchObject({ rows: 6, changedSubjects });
});

test('words for nothing are counted by field, however they are written', async () => {
  const rows = ['1,NULL,x', '2,NULL,NaN', '3,NULL,Nullable', '4,good,None of them', 'x,NULL,bad'];
  expect(await warningsOf('a.csv', `room_id,title,floor\n${rows.join('\n')}\n`)).toEqual([
    'WORD_FOR_NOTHING: 3 cells of title are `NULL`: sent as they are; if that means nothing, empty the cell',
    'WORD_FOR_NOTHING: 1 cell of floor is `NaN`: sent as it is; if that means nothing, empty the cell',
  ]);
});

test('so is half of a character of JSON', async () => {
  const json =
    '[{"room_id":1,"title":"a\\ud83c","note":"x"},{"room_id":2,"title":"\\ud83c\\udfa7","note":"x"}]';
  expect(await warningsOf('a.json', json)).toEqual([
    expect.stringContaining(
      '1 cell of title lacks characters that were lost before (first: `a\\ud83c` in row 1, line 1)',
    ),
  ]);
});

test('texts that were read in a wrong encoding before are counted, with what the first one may mean', async () => {
  const rows = ['1,GrÃ¼ÃŸe,ok', '2,MÃ¼nchen,ok', '3,Größe,„Spaß“'];
  expect(await warningsOf('a.csv', `room_id,title,note\n${rows.join('\n')}\n`)).toEqual([
    'MISREAD_TEXT: 2 cells of title were probably read in a wrong encoding before (first: `GrÃ¼ÃŸe` in row 1, line 2, which may mean `Grüße`): export the data again, as UTF-8',
  ]);
});

test('characters that were lost before are counted in each column, also in one that is not sent', async () => {
  const rows = ['1,Gr\ufffd\ufffde,ok', '2,M\ufffdnchen,\ufffd', '3,Größe,ok'];
  expect(await warningsOf('a.csv', `room_id,title,note\n${rows.join('\n')}\n`)).toEqual([
    expect.stringContaining(
      '2 cells of title lack characters that were lost before (first: `Gr\ufffd\ufffde` in row 1, line 2)',
    ),
    expect.stringContaining(
      '1 cell of note lacks characters that were lost before (first: `\ufffd` in row 2, line 3)',
    ),
  ]);
});

test('warns of numbers in a body that a reader in JavaScript rounds, and not of text', async () => {
  const tags = (id: (text: string) => unknown) =>
    defineOperation({
      name: 'tag',
      thing: 'tag',
      summary: 'Tag',
      subject: 'id',
      columns: {},
      repeatable: true,
      fields: { id: { type: 'integer', required: true } },
      request: (row) => ({ path: '/tag', body: { tag: { id: id(row.id) }, note: ': 9007199254740993' } }),
      interpret: () => ({ ok: true as const, value: undefined }),
    });
  const codesOf = async (operation: Operation) => {
    const manifest = await openText('a.csv', 'id\n9007199254740991\n9007199254740993\n9223372036854775807\n');
    const { warnings } = await scanManifest(
      manifest,
      createRowPreparer({ manifest, operations: [operation] }),
    );
    return warnings.map(({ code, message }) => `${code}: ${message}`);
  };
  expect(await codesOf(tags(BigInt))).toEqual([
    expect.stringMatching(
      /^NUMBER_MAY_BE_ROUNDED: 2 rows send a number beyond 9007199254740991 \(first: row 2, line 3\)/,
    ),
  ]);
  expect(await codesOf(tags(String))).toEqual([]);
});
