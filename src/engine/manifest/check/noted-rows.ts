/** The number of rows with some property, and the first of these rows. */
export interface NotedRows {
  rows: number;
  readonly firstRow: number;
}

/** Counts a row under a name. */
export function noteRow(byName: Map<string, NotedRows>, name: string, row: number): void {
  const existing = byName.get(name);
  if (existing === undefined) byName.set(name, { rows: 1, firstRow: row });
  else existing.rows++;
}
