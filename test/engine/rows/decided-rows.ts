import type { CallableRow, PlannedOperation } from '../../../src/engine/rows/row.ts';

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
