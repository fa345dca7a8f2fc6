/** Rows whose offsets lie in one page: 512 KB. */
const pageRows = 65_536;

/**
 * Where the line of each finished row begins in the journal: 8 bytes a row, whatever the order in which rows finish.
 * Offset 0 is the header's, so it stands for "no line".
 */
export class RowOffsets {
  readonly #pages = new Map<number, Float64Array>();

  /** Offset in bytes, undefined when the row has no line. */
  get(row: number): number | undefined {
    return this.#pages.get(Math.floor(row / pageRows))?.[row % pageRows] || undefined;
  }

  /** `offset` is greater than 0. */
  set(row: number, offset: number): void {
    const number = Math.floor(row / pageRows);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new Float64Array(pageRows);
      this.#pages.set(number, page);
    }
    page[row % pageRows] = offset;
  }
}
