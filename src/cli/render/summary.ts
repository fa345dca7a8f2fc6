import { outcomes } from '../../domain.ts';
import type { ReportPaths } from '../../report/report-files.ts';
import type { RunSummary } from '../../report/summary.ts';
import { count, counted, duration, indented, table } from './words.ts';

const maxCodes = 10;

/** What a run came to, for people: counts, the reasons of what did not succeed, and where to read on. */
export function summaryText(summary: RunSummary, paths: ReportPaths, next: readonly string[]): string {
  const { rows } = summary.manifest;
  const parts = outcomes
    .filter((outcome) => summary.outcomes[outcome] > 0)
    .map((outcome) => `${count(summary.outcomes[outcome])} ${outcome.replace('_', ' ')}`);
  return [
    `Run ${summary.run} ${summary.state}${summary.duration_s > 0 ? ` after ${duration(summary.duration_s)}` : ''}: ` +
      `${counted(rows, 'row')}, ${parts.join(', ')}`,
    ...codeLines(summary),
    ...(summary.unclear > 0
      ? [
          `${counted(summary.unclear, 'row')} with an attempt that may have been processed unseen (column _unclear)`,
        ]
      : []),
    ...table([
      ['Report:', paths.report],
      ...(paths.failed === undefined ? [] : [['To mend:', paths.failed]]),
      ...(paths.notAttempted === undefined ? [] : [['Not sent:', paths.notAttempted]]),
      ...next.map((command, index) => [index === 0 ? 'Next:' : '', command]),
    ]),
  ].join('\n');
}

function codeLines({ codes }: RunSummary): readonly string[] {
  const notable = codes.filter(({ outcome, code }) => outcome !== 'duplicate' && code !== 'OK');
  // What failed comes first, whatever else is worth a word after it.
  const shown = notable.toSorted(
    (a, b) => Number(a.outcome === 'succeeded') - Number(b.outcome === 'succeeded'),
  );
  const lines = table(
    shown
      .slice(0, maxCodes)
      .map(({ outcome, code, count: rows, message, row }) => [
        count(rows),
        outcome.replace('_', ' '),
        code,
        `${message === '' ? '' : `${message} `}(row ${row})`,
      ]),
    [0],
  );
  const more = shown.length - maxCodes;
  return [indented(lines), ...(more > 0 ? [`  … and ${more} more codes: see summary.json`] : [])].filter(
    (line) => line !== '',
  );
}
