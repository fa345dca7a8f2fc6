import type { RunSummary } from '../../report/summary.ts';
import type { WrittenReports } from '../../report/write-reports.ts';
import { actualState, isActive, isResumable, type RunRecord } from '../../run/record.ts';

/** The commands that one would type next. */
export function nextCommands(record: RunRecord, { outcomes }: RunSummary): readonly string[] {
  const state = actualState(record);
  if (isActive(state)) return [`cqbatch status ${record.id}`, `cqbatch cancel ${record.id}`];
  if (isResumable(state)) return [`cqbatch resume ${record.id}`];
  return outcomes.failed > 0 ? [`cqbatch retry ${record.id}`] : [];
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
