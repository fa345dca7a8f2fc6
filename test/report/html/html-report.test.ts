import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../src/domain.ts';
import { writeHtmlReport } from '../../../src/report/html/html-report.ts';
import type { PageData, RowsInside } from '../../../src/report/html/page-data.ts';
import { ReportPage } from '../../../src/report/html/report-page.ts';
import type { ReportLine } from '../../../src/report/join-results.ts';
import { Tally } from '../../../src/report/summary.ts';
import { factsOfRun } from '../../helpers/page-lines.ts';
import { callableRow } from '../../helpers/planned-row.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

function report(selection?: RowsInside): ReportPage {
  const refeed = { columns: [{ title: 'text' }], clear_token: '<clear>', defaults: {} };
  const run = {
    id: 'r',
    state: 'completed',
    phase: 'ended' as const,
    resume: '',
    baseUrl: 'https://api.example',
    stops: [],
  };
  return new ReportPage({ refeed, operations: [], run }, selection);
}

/** A row that can't be compressed. */
function line(row: number, bytes: number, outcome: Outcome): ReportLine {
  const cells = [randomBytes((bytes * 3) / 4).toString('base64')];
  const result = { row, operation: 'o', outcome, code: 'C', message: '', attempts: 1, unclear: false };
  return { row: callableRow(row, cells), result };
}

async function pageOf(
  page: ReportPage,
  folder: string,
): Promise<{ readonly data: PageData; readonly bytes: number }> {
  const summary = new Tally().summary(factsOfRun);
  const path = await writeHtmlReport(folder, await page.content(summary));
  const json = /<script type="application\/json" id="data">(.*)<\/script>/.exec(
    await readFile(path, 'utf8'),
  )?.[1];
  return { data: JSON.parse(json ?? '') as PageData, bytes: (await stat(path)).size };
}

test('too many rows are left out, except those that did not succeed, if they fit', async () => {
  const folder = await temporaryFolder();
  const lines = Array.from({ length: 30 }, (_, index) =>
    line(index + 1, 1_000_000, index % 10 === 0 ? 'failed' : 'succeeded'),
  );
  const all = report();
  const troubled = report('troubled');
  const few = report();
  for (const one of lines) {
    await all.add([one]);
    await troubled.add([one]);
  }
  await few.add(lines.slice(0, 3));
  expect([all, troubled, few].map(({ selection }) => selection)).toEqual(['none', 'troubled', 'all']);
  const rows = async (page: ReportPage) => {
    const { data, bytes } = await pageOf(page, folder);
    expect(bytes).toBeLessThan(20_500_000);
    return [data.rows.selection, data.rows.count];
  };
  expect(await rows(all)).toEqual(['none', 0]);
  expect(await rows(troubled)).toEqual(['troubled', 3]);
  expect(await rows(few)).toEqual(['all', 3]);
});

test('a failed write of the page is a failed report', async () => {
  await expect(pageOf(report(), '/nowhere')).rejects.toMatchObject({ code: 'REPORT_UNWRITABLE' });
});
