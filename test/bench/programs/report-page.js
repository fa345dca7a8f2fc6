// @ts-check
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { restoreEvaluation } from '../../../dist/jobs/restore-evaluation.js';
import { CsvFile } from '../../../dist/src/engine/report/csv-file.js';
import { writeHtmlReport } from '../../../dist/src/engine/report/html/html-report.js';
import { ReportPage } from '../../../dist/src/engine/report/html/report-page.js';
import { ReportCells } from '../../../dist/src/engine/report/report-columns.js';
import { Tally } from '../../../dist/src/engine/report/summary.js';
import { program } from './program.js';

/**
 * Makes report.html of this many rows, or report.csv of the same rows, and opens it, or an empty page, if there is a browser.
 *
 * @typedef {{ contestant: 'page' | 'csv', rows: number, folder: string, browser: string | undefined }} Options
 */

const columns = ['evaluation_id', 'user_id'].map((field) => ({ title: field, field }));
const part = 1_000;

/** Similar to those of a run: one in fifty has failed, and calls start some milliseconds apart. */
function* linesOf(/** @type {number} */ rows) {
  let state = 1;
  const draw = (/** @type {number} */ below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  let started = Date.UTC(2026, 0, 1);
  for (let first = 1; first <= rows; first += part) {
    yield Array.from({ length: Math.min(part, rows - first + 1) }, (_, index) => {
      const row = first + index;
      started += draw(8);
      const id = String(10_000_000 + draw(90_000_000));
      const durationMs = 20 + draw(200);
      const isBad = draw(50) === 0;
      return {
        row: {
          kind: /** @type {const} */ ('callable'),
          place: row,
          row,
          line: row + 1,
          subject: id,
          operation: restoreEvaluation,
          values: { evaluation_id: id, user_id: 'qa-lead' },
          requestDigest: 'as planned',
          cells: [id, 'qa-lead'],
        },
        result: {
          row,
          operation: 'restore-evaluation',
          attempts: 1,
          unclear: false,
          durationMs,
          outcome: /** @type {'failed' | 'succeeded'} */ (isBad ? 'failed' : 'succeeded'),
          code: isBad ? 'NOT_FOUND' : 'OK',
          message: isBad ? `evaluation ${id} is not there` : '',
          httpStatus: isBad ? 404 : 200,
          startedAt: new Date(started).toISOString(),
          finishedAt: new Date(started + durationMs).toISOString(),
        },
      };
    });
  }
}

async function makePage(/** @type {number} */ rows, /** @type {string} */ folder) {
  const report = new ReportPage({
    refeed: {
      columns,
      clear_token: '<clear>',
      defaults: {},
    },
    operations: [],
    requestOf: () => undefined,
    run: {
      id: 'bench',
      state: 'completed',
      phase: 'ended',
      baseUrl: 'https://api.example',
      stops: [],
    },
  });
  const tally = new Tally();
  for (const lines of linesOf(rows)) {
    for (const { result } of lines) tally.add(result);
    await report.add(lines);
  }
  const manifest = { name: 'bench.csv', sha256: '' };
  const summary = tally.summary({
    run: 'bench',
    state: 'completed',
    manifest,
    activeMs: 1_000,
    rate: null,
    started_at: null,
    finished_at: null,
    retry_of: null,
    retries: [],
    digests: null,
    delimiter: ',',
  });
  return writeHtmlReport(folder, await report.content(summary, []));
}

async function makeCsv(/** @type {number} */ rows, /** @type {string} */ folder) {
  const cells = new ReportCells({ columns, clear_token: '<clear>', operations: [] }, String);
  const file = new CsvFile(join(folder, 'report.csv'), cells.header, ',');
  for (const lines of linesOf(rows)) await file.write(lines.map((line) => cells.cellsOf(line)));
  await file.seal();
  await file.publish();
  return file.path;
}

/** How long it takes until all of a page can be used, milliseconds. */
async function timeOpening(
  /** @type {string} */ executablePath,
  /** @type {string} */ url,
  /** @type {string} */ ready,
) {
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    const page = await browser.newPage();
    const begin = performance.now();
    await page.goto(url);
    await page.waitForSelector(ready);
    return performance.now() - begin;
  } finally {
    await browser.close();
  }
}

await program(async (/** @type {Options} */ { contestant, rows, folder, browser }) => {
  const path = await (contestant === 'page' ? makePage(rows, folder) : makeCsv(rows, folder));
  const [url, ready] =
    contestant === 'page'
      ? [String(pathToFileURL(path)), 'main[aria-busy=false]']
      : ['data:text/html,<main></main>', 'body'];
  return {
    sizeMb: statSync(path).size / 1e6,
    ...(browser !== undefined && { openMs: await timeOpening(browser, url, ready) }),
  };
});
