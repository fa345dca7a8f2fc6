import { join } from 'node:path';
import { defineOperation } from '../../../../src/engine/operation/operation.ts';
import { PackedPlan } from '../../../../src/engine/report/plan-page/packed-plan.ts';
import type { PlanFacts, PlanPageContent } from '../../../../src/engine/report/plan-page/plan-page-data.ts';
import type { CellTexts, DecidedRow } from '../../../../src/engine/rows/row.ts';
import { openRows } from '../../../../src/engine/rows/rows-file.ts';
import { writeRows } from '../../../engine/rows/written-rows.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** An operation whose requests have the values of their rows in path and body. */
export const rename = defineOperation({
  name: 'rename-board',
  thing: 'board',
  summary: 'Rename boards',
  fields: {
    id: { type: 'text', required: true },
    title: { type: 'text', undoable: true },
    note: { type: 'text', undoable: true },
  },
  subject: 'id',
  request: ({ id, ...body }) => ({
    method: 'PUT',
    path: `/entries/${encodeURIComponent(id)}`,
    body: { id, ...body },
  }),
  interpret: () => ({ ok: true, value: undefined }),
  columns: {},
  repeatable: true,
});

export const restore = defineOperation({
  name: 'restore-board',
  thing: 'board',
  done: 'restored',
  summary: 'Restore boards',
  fields: { id: { type: 'text', required: true }, by: { type: 'text', required: true } },
  subject: 'id',
  request: ({ id, by }) => ({ path: '/restore', body: { id, by } }),
  interpret: () => ({ ok: true, value: undefined }),
  columns: {},
  repeatable: true,
});

export const someFacts: PlanFacts = {
  source: { name: 'a.csv', format: 'csv' },
  target: { baseUrl: 'https://api.example', isNew: false },
  rate: { perSecond: 20, isWanted: true },
  refusals: [],
  warnings: [],
  leftOut: 0,
  keptColumns: [],
  madeAt: '2026-11-26T12:00:00.000Z',
  end: { sha256: 'a'.repeat(64), of: 'a.csv', command: 'cqbatch run a.csv' },
};

/** The columns of the cells. */
export const columns = [
  { title: 'ID', field: 'id' },
  { title: 'Title', field: 'title' },
  { title: 'Old title', field: 'old_title' },
  { title: 'agent' },
];

/** What the page of a plan of these rows has. */
export async function plannedPage(
  rows: readonly DecidedRow[],
  cells: (row: DecidedRow) => CellTexts,
  facts: Partial<PlanFacts> = {},
): Promise<PlanPageContent> {
  const path = join(await temporaryFolder(), 'rows.jsonl');
  await writeRows(path, rows, { cells, columns });
  const file = await openRows(path);
  const plan = new PackedPlan({ head: file.head, operations: [rename, restore] });
  for await (const part of file.rows()) await plan.add(part);
  return plan.content({ ...someFacts, ...facts });
}

export function edit(row: number, values: Readonly<Record<string, string>>, more: object = {}): DecidedRow {
  const common = { row, line: row + 1, operation: rename, subject: values['id'] ?? '', values };
  return { kind: 'callable', ...common, requestDigest: 'of the request', ...more };
}

export function act(row: number, id: string): DecidedRow {
  const values = { id, by: 'ana' };
  const common = { row, line: row + 1, operation: restore, subject: id, values };
  return { kind: 'callable', ...common, requestDigest: 'of the request' };
}
