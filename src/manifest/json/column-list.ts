import { usageError } from '../../errors.ts';
import { maxColumnNamesLength, maxColumns } from '../limits.ts';

/** The column names of JSON rows in order of first appearance; bounded, so that no manifest fills the memory. */
export class ColumnList {
  readonly #known = new Set<string>();
  readonly #file: string;
  #names: readonly string[] = [];
  #length = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** A snapshot; the same array until there is a new name. */
  get names(): readonly string[] {
    if (this.#names.length < this.#known.size) this.#names = [...this.#known];
    return this.#names;
  }

  /** @throws CqbatchError (`usage`, `MANIFEST_TOO_MANY_COLUMNS`) for names beyond the limit. */
  add(name: string): void {
    if (this.#known.has(name)) return;
    this.#known.add(name);
    this.#length += name.length;
    if (this.#known.size > maxColumns || this.#length > maxColumnNamesLength) {
      throw usageError(
        'MANIFEST_TOO_MANY_COLUMNS',
        `${this.#file}: the rows have more than ${maxColumns} different columns, or names longer than 1 MiB`,
      );
    }
  }
}
