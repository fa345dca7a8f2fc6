import type { CallableRow, DecidedRow, PlannedOperation } from '../../../src/engine/rows/row.ts';
import { RowsSummary } from '../../../src/engine/rows/rows-summary.ts';
import { SubjectIndex } from '../../../src/engine/rows/subject-index.ts';

/** An operation as a file of rows knows it. */
export const renaming: PlannedOperation = {
  name: 'rename',
  thing: 'entry',
  subject: 'id',
  columns: ['state'],
  mayReset: true,
  fields: [
    { name: 'id', required: true, undoable: false },
    { name: 'title', required: false, undoable: true },
  ],
};

/** A row that is called. */
export const callable: CallableRow = {
  kind: 'callable',
  row: 1,
  line: 2,
  operation: renaming,
  subject: '7',
  values: { id: '7', title: 'A' },
  requestDigest: 'of the request',
};

/** The summary of a file with these rows. */
export function summaryOf(rows: readonly DecidedRow[]) {
  const [summary, subjects] = [new RowsSummary(), new SubjectIndex()];
  for (const row of rows) summary.add(row, row.kind === 'callable' && subjects.add(row));
  return { ...summary.summary(), changedSubjects: subjects.changedSubjects };
}
