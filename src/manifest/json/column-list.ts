import { usageError } from '../../errors.ts';
import { maxColumnNamesLength, maxColumns } from '../limits.ts';

/** The column names of JSON rows in order of first appearance; bounded, so that no manifest fills the memory. */
export class ColumnList {
  readonly #names = new Set<string>();
  readonly #file: string;
  #length = 0;

  constructor(file: string) {
    this.#file = file;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /** @throws CqbatchError (`usage`, `MANIFEST_TOO_MANY_COLUMNS`) for names beyond the limit. */
  add(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#length += name.length;
    if (this.#names.size > maxColumns || this.#length > maxColumnNamesLength) {
      throw usageError(
        'MANIFEST_TOO_MANY_COLUMNS',
        `${this.#file}: the rows have more than ${maxColumns} different columns, or names longer than 1 MiB`,
      );
    }
  }
}
