import type { RunSummary } from '../../report/summary.ts';
import type { WrittenReports } from '../../report/write-reports.ts';
import { actualState, goesOnByItself, isResumable, type RunRecord } from '../../run/record.ts';
import { summaryText } from '../render/summary.ts';

/** The commands that one would type next. */
export function nextCommands(record: RunRecord, { outcomes }: RunSummary): readonly string[] {
  const state = actualState(record);
  if (goesOnByItself(record)) {
    const first = state === 'paused' ? 'unpause' : 'status';
    return [`cqbatch ${first} ${record.id}`, `cqbatch cancel ${record.id}`];
  }
  if (isResumable(state)) return [`cqbatch resume ${record.id}`];
  return outcomes.failed > 0 ? [`cqbatch retry ${record.id}`] : [];
}

/** What commands say that end with a report. */
export function reportText(record: RunRecord, { summary, paths }: WrittenReports): string {
  const text = summaryText(summary, paths, nextCommands(record, summary));
  if (goesOnByItself(record) || !isResumable(actualState(record))) return text;
  return (
    `${text}\nEither resume the run, or cancel it ("cqbatch cancel ${record.id}") before you feed its files back: both would ` +
    'call rows twice.'
  );
}

/** The document that commands print which end with a report. */
export function reportDocument(record: RunRecord, { summary, paths }: WrittenReports): object {
  return {
    run: record.id,
    state: actualState(record),
    summary,
    files: {
      report: paths.report,
      summary: paths.summary,
      failed: paths.failed ?? null,
      not_attempted: paths.notAttempted ?? null,
    },
    next: nextCommands(record, summary),
  };
}
