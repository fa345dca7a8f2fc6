import type { RowProblem } from '../problem.ts';

/** Rows that have the same problem in the same column. */
export interface ProblemGroup extends RowProblem {
  /** Number of rows; `value` is that of the first one. */
  readonly rows: number;
  /** The first stretches of rows that follow each other, by the lines on which they begin and end. */
  readonly stretches: readonly Stretch[];
  /** Whether there are more stretches than those. */
  readonly hasMore: boolean;
}

export type Stretch = readonly [firstLine: number, lastLine: number];

const maxGroups = 50;
const maxStretches = 3;

interface OpenGroup {
  readonly problem: RowProblem;
  rows: number;
  lastRow: number;
  readonly stretches: [number, number][];
  hasMore: boolean;
}

/** Groups the problems of rows that come in their order. Memory does not grow with the number of problems. */
export class ProblemGroups {
  readonly #groups = new Map<string, OpenGroup>();
  #ungrouped = 0;

  /** Problems that are in no group, because there were too many different ones before. */
  get ungrouped(): number {
    return this.#ungrouped;
  }

  /** In the order in which they were met first. */
  get groups(): readonly ProblemGroup[] {
    return [...this.#groups.values()].map(({ problem, rows, stretches, hasMore }) => ({
      ...problem,
      rows,
      stretches,
      hasMore,
    }));
  }

  add({ row, line }: { readonly row: number; readonly line: number }, problem: RowProblem): void {
    const key = `${problem.column ?? ''}\n${problem.problem}`;
    const group = this.#groups.get(key);
    if (group !== undefined) extend(group, row, line);
    else if (this.#groups.size === maxGroups) this.#ungrouped++;
    else {
      this.#groups.set(key, { problem, rows: 1, lastRow: row, stretches: [[line, line]], hasMore: false });
    }
  }
}

function extend(group: OpenGroup, row: number, line: number): void {
  const { lastRow, stretches } = group;
  if (row === lastRow) return;
  group.rows++;
  group.lastRow = row;
  const last = stretches.at(-1);
  if (row === lastRow + 1 && last !== undefined && !group.hasMore) last[1] = line;
  else if (stretches.length < maxStretches) stretches.push([line, line]);
  else group.hasMore = true;
}
