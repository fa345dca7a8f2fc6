import { readdir, readFile, stat } from 'node:fs/promises';
import { readXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { noOutcomes } from '../../src/domain.ts';
import { Cells } from '../../src/manifest/manifest.ts';
import type { Operation } from '../../src/operation/operation.ts';
import type { RunSummary } from '../../src/report/summary.ts';
import { sheetXml } from '../../src/report/workbook.ts';
import { writeXlsxReport } from '../../src/report/xlsx-report.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { resultOf } from '../journal/arbitraries.ts';

const summary: RunSummary = {
  version: 1,
  run: 'r1',
  state: 'completed',
  manifest: { name: 'a.csv', sha256: '', rows: 2 },
  started_at: null,
  finished_at: null,
  duration_s: 4,
  outcomes: { ...noOutcomes(), succeeded: 1, failed: 1 },
  retry_of: null,
  retries: [],
  operations: [],
  codes: [{ outcome: 'failed', code: 'NOT_FOUND', count: 1, message: 'no such thing', row: 2 }],
  unclear: 0,
  attempts: 2,
  unprocessed: 0,
  rows_per_s: null,
  latency_ms: null,
  rate: null,
};

/** Writes a report of rows with these notes, and reads it as another program does. */
async function written(...notes: readonly unknown[]) {
  const folder = await temporaryFolder();
  async function* lines() {
    yield notes.map((note, index) => ({
      row: {
        row: index + 1,
        line: index + 2,
        cells: Object.assign(new Cells(), { evaluation_id: '9223372036854775807', note }),
      },
      result: resultOf(index + 1),
    }));
  }
  const path = await writeXlsxReport({
    folder,
    lines: lines(),
    columns: ['evaluation_id', 'note'],
    clearToken: '<clear>',
    operations: [{ name: 'restore-evaluation', columns: ['score'] } as unknown as Operation],
    summary,
  });
  const { sheets } = await readXlsx(await readFile(path));
  return { folder, path, sheets };
}

test('a workbook has the report as text, with a header that stays and filters, and a summary', async () => {
  const { folder, path, sheets } = await written('=1+1', '-12');
  const [report, overview] = sheets;
  expect(report).toMatchObject({ name: 'report', freezePane: { rows: 1 }, autoFilter: { range: 'A1:N3' } });
  expect(report?.rows[0]?.slice(0, 4)).toEqual(['evaluation_id', 'note', '_row', '_operation']);
  expect(report?.rows.slice(1).map((row) => row.slice(0, 3))).toEqual([
    ['9223372036854775807', '=1+1', '1'],
    ['9223372036854775807', '-12', '2'],
  ]);
  expect(overview).toMatchObject({ name: 'summary' });
  expect(overview?.rows).toContainEqual(['failed', '1', 'NOT_FOUND', 'no such thing']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['report.xlsx']);
});

test('texts are kept that XML has no place for', async () => {
  const texts = ['<&>"\'', ' a\tb\nc ', 'é🙂', 'null\u0000bell\u0007\r', '_x0041_', '<clear>'];
  const { sheets } = await written(...texts);
  expect(sheets[0]?.rows.slice(1).map((row) => row[1])).toEqual([...texts.slice(0, -1), '<clear>']);
});

test('a text that is too long for Excel says where all of it is', async () => {
  const { sheets } = await written('x'.repeat(40_000));
  const text = String(sheets[0]?.rows[1]?.[1]);
  expect(text).toHaveLength(32_767);
  expect(text).toMatch(/x… \(cut: Excel holds 32,767 characters; report\.csv has all\)$/);
});

test.each([
  ['rows', 1, 1_048_577],
  ['columns', 16_385, 1],
])('more %s than Excel has are refused', async (_title, columns, rows) => {
  const cells = Array.from({ length: columns }, () => '');
  const read = async () => {
    for await (const _ of sheetXml(Array.from({ length: rows }, () => cells)));
  };
  await expect(read()).rejects.toMatchObject({ code: 'XLSX_TOO_LARGE', kind: 'fatal' });
});
