import type { RowPosition } from '../../rows/problem.ts';

export interface NotedRows {
  rows: number;
  readonly first: RowPosition;
}

export function noteRow(byName: Map<string, NotedRows>, name: string, { row, line }: RowPosition): void {
  const existing = byName.get(name);
  if (existing === undefined) byName.set(name, { rows: 1, first: { row, line } });
  else existing.rows++;
}
