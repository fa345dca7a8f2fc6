import type { RowResult } from '../../../src/domain/row-result.ts';
import { decodeEntry, encodeResult, type ResultLine } from '../../../src/engine/journal/line.ts';
import type { RowCall, RowTask } from '../../../src/engine/queue/payload.ts';
import type { PlannedOperation } from '../../../src/engine/rows/row.ts';
import { cutCallable, decodeCallable, encodeRow } from '../../../src/engine/rows/row-line.ts';

/** What the plan says of a row. */
export interface Planned {
  readonly subject?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly operation?: string;
  readonly op?: number;
  readonly requestDigest?: string;
}

/** A row of a file, as it is fed. */
export function taskOf(
  row: number,
  {
    subject = '1',
    values = {},
    operation: name = 'update-soundboard',
    op = 0,
    requestDigest = '',
  }: Planned = {},
): RowTask {
  const all = { id: subject, ...values };
  const fields = Object.keys(all).map((field) => ({ name: field, required: true, undoable: false }));
  const operation: PlannedOperation = { name, thing: 'entry', subject: 'id', columns: [], fields };
  const planned = {
    kind: 'callable',
    row,
    line: row + 1,
    operation,
    subject,
    values: all,
    requestDigest,
  } as const;
  const cut = cutCallable(encodeRow(planned, ['a cell'], op).trimEnd());
  if (cut === undefined) throw new TypeError('the line of a callable row can be cut');
  const known = { op, name, subject: 'id', fields: fields.map((field) => ({ name: field.name })) };
  return { row, operation: known, line: cut.text };
}

/** A call of which the body is the values, as a worker prepares it. */
export function callFor({ row, line, operation, history, attemptsUsed }: RowTask, run: string): RowCall {
  const { subject, values } = decodeCallable(line, operation);
  const known = { run, row, operation: operation.name, subject, history, attemptsUsed };
  return { ...known, path: '/', body: JSON.stringify(values) };
}

/** What the journal reads in these lines. */
export function resultsOf(lines: readonly ResultLine[] = []): RowResult[] {
  return lines.map(({ line }) => {
    const entry = decodeEntry(line);
    if (entry?.type !== 'row') throw new TypeError(`not a result: ${line}`);
    return entry.result;
  });
}

export function linesOf(...results: readonly RowResult[]): ResultLine[] {
  return results.map(encodeResult);
}
