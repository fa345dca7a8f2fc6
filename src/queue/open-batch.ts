import { Ledger } from './ledger.ts';
import { type BatchReturn, decodeEntry, type Leftover, type RowTask } from './payload.ts';

/** Data of a batch's job in the queue of its run. */
export interface RunBatchData {
  /** The rows that it has, in order, as ranges. */
  readonly rows: readonly (readonly [first: number, last: number])[];
  /** Characters of their request bodies. */
  readonly bytes: number;
}

/** What a batch weighs: rows, and characters of their request bodies. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

/** A batch that was fed and is not collected yet. */
export class OpenBatch {
  readonly rows: readonly number[];
  readonly size: BatchSize;
  readonly since = performance.now();
  /** Whether its worker knows that it is wanted back. */
  isWithdrawn = false;
  /** Whether it was taken back. */
  isTaken = false;
  readonly #tasks: ReadonlyMap<number, RowTask>;
  readonly #ledger: Ledger;
  #read = 0;

  /** @param tasks those of its rows, as far as they are known */
  constructor(rows: readonly number[], bytes: number, tasks: readonly RowTask[]) {
    this.rows = rows;
    this.size = { rows: rows.length, bytes };
    this.#tasks = new Map(tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(rows.map((row) => this.#tasks.get(row) ?? { row }));
  }

  get unfinishedRows(): number {
    return this.#ledger.unfinishedRows;
  }

  /** Reads on in its ledger: `read` gets the index of the first entry that is wanted. */
  async readOn(read: (first: number) => Promise<readonly string[]>): Promise<void> {
    const texts = await read(this.#read);
    this.#read += texts.length;
    for (const text of texts) this.#ledger.apply(decodeEntry(text));
  }

  /** What its ledger says, when nobody has it any more. */
  abandoned(): BatchReturn {
    this.#ledger.abandon();
    return this.known();
  }

  /** What its ledger says so far. */
  known(): BatchReturn {
    return { results: this.#ledger.results(), leftovers: this.#ledger.leftovers() };
  }

  /** The row as it is to be fed again; undefined when its task is not known here. */
  taskOf({ row, history, attemptsUsed }: Leftover): RowTask | undefined {
    const task = this.#tasks.get(row);
    return task && { ...task, ...(history !== undefined && { history }), attemptsUsed };
  }
}

/** The rows, as ranges of consecutive ones. */
export function rangesOf(tasks: readonly RowTask[]): RunBatchData['rows'] {
  const ranges: [number, number][] = [];
  for (const { row } of tasks) {
    const last = ranges.at(-1);
    if (last !== undefined && row === last[1] + 1) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges;
}

export function bytesOf(tasks: readonly RowTask[]): number {
  return tasks.reduce((bytes, { body }) => bytes + body.length, 0);
}

export function rowsOf({ rows }: RunBatchData): number[] {
  return rows.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
}
