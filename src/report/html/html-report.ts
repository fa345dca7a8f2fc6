import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files.ts';
import { packageRoot } from '../../package.ts';
import { unwritableReport } from '../csv-file.ts';
import type { ReportLine } from '../join-results.ts';
import type { RefeedOptions } from '../refeed.ts';
import type { RunSummary } from '../summary.ts';
import { LatencyOverTime } from './latency-series.ts';
import type { CodeAdvice, PageData, PageRun, RowSelection } from './page-data.ts';
import { RowColumns } from './row-columns.ts';

const htmlReportFile = 'report.html';

/** Of compressed rows; base64 makes four bytes of three. What is larger can't be sent by e-mail. */
const mostBytes = (20_000_000 * 3) / 4;

export interface HtmlReportOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly refeed: Omit<RefeedOptions, 'guard'>;
  /** Names of what operations tell of a row. */
  readonly resultColumns: readonly string[];
  readonly run: Omit<PageRun, 'writtenAt'>;
  /** What a code means, for people. */
  readonly adviceOn: (code: string) => CodeAdvice;
}

/** Collects the lines of a report, and writes them as one page that needs nothing else. */
export class HtmlReport {
  readonly #options: HtmlReportOptions;
  readonly #latency = new LatencyOverTime();
  #selection: RowSelection;
  #rows: RowColumns;

  /** @param selection which rows are inside, as long as they are few enough */
  constructor(options: HtmlReportOptions, selection: RowSelection = 'all') {
    this.#options = options;
    this.#selection = selection;
    this.#rows = new RowColumns(options.refeed, options.resultColumns);
  }

  /** Which rows are inside. One that has left rows out should be made anew with those that failed only. */
  get selection(): RowSelection {
    return this.#selection;
  }

  async add(lines: readonly ReportLine[]): Promise<void> {
    for (const { result } of lines) {
      const started = Date.parse(result.startedAt ?? '');
      if (!Number.isNaN(started) && result.durationMs !== undefined)
        this.#latency.add(started, result.durationMs);
    }
    if (this.#selection === 'none') return;
    await this.#rows.add(this.#selection === 'all' ? lines : lines.filter(isTroubled));
    if (this.#rows.bytes <= mostBytes) return;
    this.#selection = 'none';
    this.#rows.discard();
    this.#rows = new RowColumns(this.#options.refeed, this.#options.resultColumns);
  }

  /**
   * Writes the page, whole or not at all, readable by its owner only.
   *
   * @returns its path
   * @throws a fatal error `REPORT_UNWRITABLE`
   */
  async write(summary: RunSummary): Promise<string> {
    const { folder, run, refeed, adviceOn } = this.#options;
    const path = join(folder, htmlReportFile);
    const { columns, pieces } = await this.#rows.end();
    const { rate, ...others } = summary;
    const data: PageData = {
      version: 1,
      run: { ...run, writtenAt: new Date().toISOString() },
      summary: { ...others, rate: rate && { ...rate, series: [] } },
      advice: Object.fromEntries(summary.codes.map(({ code }) => [code, adviceOn(code)])),
      rate: rate?.series ?? [],
      latency: this.#latency.series(),
      rows: { selection: this.#selection, count: this.#rows.count, columns, clearToken: refeed.clearToken },
    };
    try {
      await replaceFile(path, await pageParts(data, pieces));
    } catch (error) {
      await removeHtmlReport(folder).catch(() => {});
      throw unwritableReport(path, error);
    }
    return path;
  }
}

/** It would tell something else than the other files. */
export async function removeHtmlReport(folder: string): Promise<void> {
  await rm(join(folder, htmlReportFile), { force: true });
}

function isTroubled({ result: { outcome, unclear } }: ReportLine): boolean {
  return unclear || outcome === 'failed' || outcome === 'invalid' || outcome === 'not_attempted';
}

async function pageParts(data: PageData, pieces: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const [script, style] = await Promise.all(
    ['report.js', 'report.css'].map((name) => readFile(new URL(`dist/page/${name}`, packageRoot), 'utf8')),
  );
  const code = (script ?? '').replaceAll('</script', '<\\/script');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${hashOf(style ?? '')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>cqbatch: ${escapeMarkup(data.run.id)}</title>
<style>${style}</style>
</head>
<body>
<noscript>This report needs JavaScript. The same rows are in report.csv.</noscript>
<main id="page" aria-busy="true"></main>
<script type="application/json" id="data">${inScript(JSON.stringify(data))}</script>
`,
    ...[...pieces].map(([id, base64]) => `<script type="text/plain" id="${id}">${base64}</script>\n`),
    `<script type="module">${code}</script>\n</body>\n</html>\n`,
  ];
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** JSON in which no end of a script can stand. */
function inScript(json: string): string {
  return json.replaceAll('<', '\\u003c');
}
