import type { Journal } from '../../journal/journal.ts';
import type { RowTask } from '../../queue/payload.ts';
import type { PlannedRow } from '../../rows/row.ts';
import type { RowsFile } from '../../rows/rows-file.ts';

export interface RowSelection {
  readonly has: (place: number) => boolean;
  readonly last: number;
}

/** The callable rows without a result, in order. */
export async function* unfinishedTasks(
  runId: string,
  file: Pick<RowsFile, 'rows'>,
  journal: Pick<Journal, 'isFinished' | 'history'>,
  selection?: RowSelection,
): AsyncIterable<Iterable<RowTask>> {
  const isWanted = (place: number): boolean => !journal.isFinished(place) && selection?.has(place) !== false;

  function* tasksOf(part: readonly PlannedRow[]): Iterable<RowTask> {
    for (const row of part) {
      const { place } = row;
      // A result may have arrived since the row was read.
      if (row.kind !== 'callable' || !isWanted(place)) continue;
      const history = journal.history(place);
      yield {
        run: runId,
        row: place,
        operation: row.operation.name,
        subject: row.subject,
        values: row.values,
        requestDigest: row.requestDigest,
        history,
        ...(row.key !== undefined && { key: row.key }),
      };
    }
  }

  for await (const part of file.rows(1, selection?.last, isWanted)) yield tasksOf(part);
}
