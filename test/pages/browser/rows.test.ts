import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unguardCell } from '../../../src/base/text/formula-guard.ts';
import type { RowResult } from '../../../src/domain/row-result.ts';
import type { PageContent, ReportedOperation } from '../../../src/engine/report/html/page-data.ts';
import type { ReportLine } from '../../../src/engine/report/join-results.ts';
import type { CellTexts } from '../../../src/engine/rows/row.ts';
import { type ReportColumn, Rows, type Selection } from '../../../src/pages/browser/rows.ts';
import { refeedCsv, shownCsv } from '../../../src/pages/browser/saved-rows.ts';
import { anyText, resultOf } from '../../engine/journal/arbitraries.ts';
import { writePageOf } from '../../helpers/page-lines.ts';
import { callableRow, invalidRow, leftOutRow } from '../../helpers/planned-row.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** The rows of a page, read by its script. */
async function rowsOf(
  lines: readonly ReportLine[],
  columns: readonly string[],
  resultColumns: readonly string[] = [],
): Promise<Rows> {
  const page = { folder: await temporaryFolder(), columns, operations: [restore(resultColumns)] };
  const html = await readFile(await writePageOf([lines], page), 'utf8');
  const [, json = ''] = /<script type="application\/json" id="content">([^<]*)<\/script>/.exec(html) ?? [];
  return await Rows.read(JSON.parse(json) as PageContent);
}

function restore(columns: readonly string[]): ReportedOperation {
  return { name: 'restore-evaluation', thing: 'evaluation', done: 'restored', subject: 'id', columns };
}

function line(row: number, cells: CellTexts, result: Partial<RowResult> = {}): ReportLine {
  return { row: callableRow(row, cells), result: resultOf(row, result) };
}

const failed = {
  outcome: 'failed',
  code: 'NOT_FOUND',
  message: 'The API does not know évaluation 7',
  httpStatus: 404,
  attempts: 3,
  unclear: true,
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:05.000Z',
  durationMs: 49.6,
  requestId: 'req-1',
  earlier: [{ at: '2026-01-01T00:00:00.000Z', durationMs: 10, code: 'UNAVAILABLE' }],
} as const;

test('a page includes every fact of a row', async () => {
  const rows = await rowsOf(
    [
      line(1, ['9223372036854775807', '=SUM(1)'], { ...failed, columns: { score: '7' } }),
      {
        row: leftOutRow(2, { why: 'duplicate', of: 1 }, ['17', '']),
        result: resultOf(2, { outcome: 'duplicate', code: 'DUPLICATE', attempts: 0, duplicateOf: 1 }),
      },
    ],
    ['id', 'note'],
    ['score'],
  );
  const texts = (row: number) =>
    Object.fromEntries(rows.columns.map((column) => [`${column.kind} ${column.name}`, column.text(row)]));
  expect(texts(0)).toEqual({
    'fact row': '1',
    'fact operation': 'restore-evaluation',
    'fact outcome': 'failed',
    'fact code': 'NOT_FOUND',
    'fact message': 'The API does not know évaluation 7',
    'fact status': '404',
    'fact attempts': '3',
    'fact unclear': 'unclear',
    'fact started': String(Date.parse(failed.startedAt)),
    'fact duration': '50',
    'fact lastStarted': String(Date.parse(failed.startedAt) + 4_950),
    'fact duplicateOf': '',
    'fact earlier': JSON.stringify(failed.earlier),
    'fact requestId': 'req-1',
    'fact request': 'POST /rows/1',
    'fact changes': '',
    'result score': '7',
    'cell id': '9223372036854775807',
    'cell note': '=SUM(1)',
    'cell operation': 'restore-evaluation',
  });
  expect(texts(1)).toMatchObject({
    'fact duplicateOf': '1',
    'fact request': '',
    'fact started': '',
    'cell note': '<clear>',
  });
});

test('rows come back in the order of the manifest, whatever their texts are', async () => {
  const texts = { code: anyText, message: anyText, text: anyText, cell: anyText };
  const outcome = fc.constantFrom('succeeded', 'failed', 'not_attempted');
  const httpStatus = fc.integer({ min: 100, max: 599 });
  const told = fc.record(
    { outcome, httpStatus, ...texts },
    { requiredKeys: ['outcome', 'code', 'message', 'text', 'cell'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(told, { maxLength: 20 }), async (all) => {
      const lines = all.map(({ text, cell, ...result }, index) =>
        line(index + 1, [cell], { ...result, columns: { text } }),
      );
      const rows = await rowsOf(lines, ['cell'], ['text']);
      const texts = (kind: ReportColumn['kind'], name: string) => {
        const column = rows.columns.find((each) => each.kind === kind && each.name === name);
        return all.map((_, row) => column?.text(row));
      };
      expect(rows.count).toBe(all.length);
      expect(texts('fact', 'row')).toEqual(all.map((_, index) => String(index + 1)));
      for (const name of ['outcome', 'code', 'message'] as const)
        expect(texts('fact', name)).toEqual(all.map((each) => each[name]));
      expect(texts('fact', 'status')).toEqual(all.map(({ httpStatus }) => String(httpStatus ?? '')));
      expect(texts('result', 'text')).toEqual(all.map(({ text }) => text));
      expect(texts('cell', 'cell')).toEqual(all.map(({ cell }) => cell || '<clear>'));
    }),
    { numRuns: 50 },
  );
});

test.each<readonly [what: string, row: ReportLine, request: string]>([
  [
    'with its body',
    {
      row: callableRow(1, [], { values: { title: 'a' } }),
      result: resultOf(1, failed),
    },
    'PUT /rows/1\n{"title":"a"}',
  ],
  ['without a body', line(1, [], failed), 'POST /rows/1'],
  ['of a row that succeeded: none', line(1, []), ''],
  ['of a row that was never sent: none', line(1, [], { ...failed, attempts: 0 }), ''],
  ['of an invalid row: none', { row: invalidRow(1), result: resultOf(1, failed) }, ''],
])('a page includes the request %s', async (_what, each, request) => {
  const rows = await rowsOf([each], []);
  expect(rows.columns.find(({ name }) => name === 'request')?.text(0)).toBe(request);
});

test.each<readonly [what: string, wanted: Selection, rows: readonly number[]]>([
  ['all', {}, [1, 2, 3, 4]],
  ['an outcome', { keeps: (outcome) => outcome === 'failed' }, [2, 4]],
  ['a code', { code: 'OK' }, [1]],
  ['an operation', { operation: 'update-soundboard' }, [3]],
  ['a text of a cell, in any case', { q: 'HELLO' }, [1]],
  ['a text of a message', { q: 'évaluation' }, [2, 4]],
  ['a text of a message, however its accents are encoded', { q: 'e\u0301valuation' }, [2, 4]],
  ['what looks like a pattern', { q: '.*' }, []],
  ['what is unclear', { keeps: (_outcome, _code, unclear) => unclear }, [2, 4]],
  ['a text and an outcome', { q: 'hello', keeps: (outcome) => outcome === 'failed' }, []],
  ['words of different columns, in any order', { q: '1200 know' }, [4]],
  ['words in quotes together', { q: '"not know"' }, [2, 4]],
  ['no row with the words of quotes apart', { q: '"know not"' }, []],
  ['a number of attempts, as the table shows it', { q: '"50 ms"' }, [2, 4]],
  ['a time as the table shows it', { q: '2026-01-01' }, [2, 4]],
  ['a request id', { q: 'req-1' }, [2, 4]],
  ['a message, whatever its numbers', { message: 'The API does not know évaluation …' }, [2, 4]],
])('filters select %s', async (_what, wanted, chosen) => {
  const rows = await rowsOf(
    [
      line(1, ['100', 'Hello']),
      line(2, ['200'], failed),
      line(3, ['300'], { outcome: 'invalid', code: 'INVALID_ROW', operation: 'update-soundboard' }),
      line(4, ['1200'], failed),
    ],
    ['id', 'title'],
  );
  const places = rows.select(wanted);
  expect([...places].map((place) => rows.number('row', place))).toEqual(chosen);
});

test('rows sort by numbers and texts in both directions, and missing values come last', async () => {
  const durations = [30, 9, undefined, 200];
  const cells = [
    ['b', '99'],
    ['', '9223372036854775807'],
    ['a', null],
    ['c', '120'],
  ];
  const rows = await rowsOf(
    durations.map((durationMs, index) =>
      line(index + 1, cells[index] ?? [], durationMs === undefined ? {} : { durationMs }),
    ),
    ['name', 'id'],
  );
  const sortedBy = (name: string, isDescending: boolean) => {
    const sortBy = rows.columns.find((column) => column.name === name);
    return [...rows.select({ sortBy, isDescending })].map((place) => place + 1);
  };
  expect(sortedBy('duration', false)).toEqual([2, 1, 4, 3]);
  expect(sortedBy('duration', true)).toEqual([4, 1, 2, 3]);
  expect(sortedBy('name', false)).toEqual([2, 3, 1, 4]);
  expect(sortedBy('id', false)).toEqual([1, 4, 2, 3]);
  expect(sortedBy('id', true)).toEqual([2, 4, 1, 3]);
});

test('saved rows read back as the cells of the manifest', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      '',
      '<clear>',
      "'<clear>",
      '=1+1',
      '@x',
      '-1',
      '"',
      'a,b',
      'a\nb',
      '007',
      '1e5',
      '\u2028',
    ),
    fc.string({ unit: fc.constantFrom('=', "'", ',', ';', '"', '\n', '\t', '-', 'a') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 }), async (cells) => {
      const lines = cells.map((texts, index) => line(index + 1, texts));
      const rows = await rowsOf(lines, ['id', 'title']);
      const csv = refeedCsv(rows, rows.select({}));
      const read = parse(csv, { columns: true, bom: true }) as Record<string, string>[];
      const clearToken = '<clear>';
      const meant = (text: string | undefined) =>
        text === clearToken ? '' : unguardCell(text ?? '', { clearToken });
      expect(read.map(({ id, title }) => [meant(id), meant(title)])).toEqual(cells);
      expect(new Set(read.map((record) => record['_guarded']))).toEqual(new Set(['yes']));
    }),
    { numRuns: 30 },
  );
});

test('saved rows say why they failed, and the rows as shown have the texts of the table', async () => {
  const rows = await rowsOf([line(1, ['7'], { ...failed, message: '=1+1' })], ['id']);
  const all = rows.select({});
  const read = (csv: string): unknown => parse(csv, { columns: true, bom: true });
  expect(read(refeedCsv(rows, all))).toEqual([
    {
      id: '7',
      operation: 'restore-evaluation',
      _row: '1',
      _code: 'NOT_FOUND',
      _message: "'=1+1",
      _unclear: 'yes',
      _guarded: 'yes',
    },
  ]);
  const columns = (['row', 'outcome', 'message', 'duration'] as const).map((name) => rows.factColumn(name));
  expect(read(shownCsv(columns, all))).toEqual([
    { Row: '1', Outcome: 'failed', Message: "'=1+1", Duration: '50 ms' },
  ]);
});
