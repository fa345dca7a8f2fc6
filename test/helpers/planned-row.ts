import type { ApiRequest } from '../../src/engine/api/request.ts';
import type {
  CallableRow,
  CellTexts,
  InvalidRow,
  LeftOut,
  LeftOutRow,
  PlannedOperation,
  PlannedRow,
} from '../../src/engine/rows/row.ts';

/** An operation as a file of rows has it. */
export const restoreEvaluation: PlannedOperation = {
  name: 'restore-evaluation',
  thing: 'evaluation',
  done: 'restored',
  subject: 'evaluation_id',
  fields: [{ name: 'evaluation_id', required: true, undoable: false }],
  columns: ['score', 'state'],
};

type Planned<Row> = PlannedRow & Row;

/** A row to be called, at the place of its number. */
export function callableRow(
  row: number,
  cells: CellTexts = [],
  more: Partial<Planned<CallableRow>> = {},
): Planned<CallableRow> {
  return {
    ...understood(row, cells),
    kind: 'callable',
    requestDigest: `of row ${row}`,
    ...more,
  };
}

/** What the operation of these rows sends. */
export function requestOfRow({ row, values: { title } }: CallableRow): ApiRequest {
  if (title === undefined) return { path: `/rows/${row}`, body: '' };
  return { method: 'PUT', path: `/rows/${row}`, body: JSON.stringify({ title }) };
}

/** A row that can't be called. */
export function invalidRow(
  row: number,
  cells: CellTexts = [],
  more: Partial<Planned<InvalidRow>> = {},
): Planned<InvalidRow> {
  const problems = [{ column: 'evaluation_id', problem: 'is missing' }];
  return { ...given(row, cells), kind: 'invalid', problems, ...more };
}

/** A row that is left out. */
export function leftOutRow(row: number, because: LeftOut, cells: CellTexts = []): Planned<LeftOutRow> {
  return { ...understood(row, cells), kind: 'left out', because };
}

function given(row: number, cells: CellTexts) {
  return { place: row, row, line: row + 1, cells };
}

function understood(row: number, cells: CellTexts) {
  const subject = String(row);
  const values = { evaluation_id: subject };
  return { ...given(row, cells), operation: restoreEvaluation, subject, values };
}
