import { fatalError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { ManifestRow } from '../manifest/manifest.ts';
import type { PreparedRow } from '../manifest/row-preparer.ts';
import type { RowTask } from '../queue/payload.ts';

/** The rows of a manifest that have no result yet, in order, ready to be fed. */
export async function* unfinishedTasks(
  runId: string,
  rows: AsyncIterable<readonly ManifestRow[]>,
  prepare: (row: ManifestRow) => PreparedRow,
  journal: Pick<Journal, 'isFinished' | 'history'>,
): AsyncIterable<RowTask> {
  for await (const chunk of rows) {
    for (const row of chunk) {
      if (journal.isFinished(row.row)) continue;
      const prepared = prepare(row);
      if (prepared.kind === 'invalid') {
        throw fatalError(
          'ROW_NOT_PLANNED',
          `Row ${row.row} is invalid, yet the plan of this run did not say so.`,
        );
      }
      const history = journal.history(row.row);
      yield {
        run: runId,
        row: row.row,
        operation: prepared.operation.name,
        subject: prepared.subject,
        path: prepared.request.path,
        body: prepared.request.body,
        ...(history !== undefined && { history }),
      };
    }
  }
}
