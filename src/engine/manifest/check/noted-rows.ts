/** How many rows have something, and the first of them. */
export interface NotedRows {
  rows: number;
  readonly firstRow: number;
}

/** Counts a row under a name. */
export function noteRow(noted: Map<string, NotedRows>, name: string, row: number): void {
  const known = noted.get(name);
  if (known === undefined) noted.set(name, { rows: 1, firstRow: row });
  else known.rows++;
}
