import type { Journal } from '../../journal/journal.ts';
import type { RowTask, TaskOperation } from '../../queue/payload.ts';
import type { PlacedLine, RowsFile } from '../../rows/rows-file.ts';

export interface RowSelection {
  readonly has: (place: number) => boolean;
  readonly last: number;
}

/** The callable rows without a result, in order. */
export async function* unfinishedTasks(
  { head, callableLines }: Pick<RowsFile, 'head' | 'callableLines'>,
  journal: Pick<Journal, 'isFinished' | 'history'>,
  selection?: RowSelection,
): AsyncIterable<Iterable<RowTask>> {
  const operations = head.operations.map(
    ({ name, subject, fields }, op): TaskOperation => ({
      op,
      name,
      subject,
      fields: fields.map((field) => ({ name: field.name })),
    }),
  );
  const isWanted = (place: number): boolean => !journal.isFinished(place) && selection?.has(place) !== false;

  function* tasksOf(part: readonly PlacedLine[]): Iterable<RowTask> {
    for (const { place, op, text } of part) {
      const operation = operations[op];
      // A result may have arrived since the row was read.
      if (operation === undefined || !isWanted(place)) continue;
      const history = journal.history(place);
      yield { row: place, operation, line: text, ...(history !== undefined && { history }) };
    }
  }

  for await (const part of callableLines(selection?.last, isWanted)) yield tasksOf(part);
}
