import { DigestTable, subjectDigest } from './digest-table.ts';
import type { Overflow } from './record-pages.ts';
import type { CallableRow } from './row.ts';

/**
 * Finds rows that are called after another row with the same subject. A subject takes 11 to 22 bytes of memory, and 12 that may overflow.
 */
export class SubjectIndex {
  /** The number of an entry is 1 if several rows have its subject. */
  readonly #table: DigestTable;
  #changedSubjects = 0;

  /** @param overflow for subjects. Default: all are in memory */
  constructor(overflow?: Overflow) {
    this.#table = new DigestTable(1, overflow);
  }

  /** The number of subjects that several rows have. */
  get changedSubjects(): number {
    return this.#changedSubjects;
  }

  /** @returns whether an earlier row has the subject. @throws a `SystemError` of the overflow */
  add({ operation, subject }: Pick<CallableRow, 'operation' | 'subject'>): boolean {
    const table = this.#table;
    const key = subjectDigest({ operation: operation.name, subject });
    const entry = table.find(key);
    if (entry < 0) {
      table.enter(key);
      return false;
    }
    if (table.get(entry, 0) === 0) this.#changedSubjects += 1;
    table.set(entry, 0, 1);
    return true;
  }

  close(): void {
    this.#table.close();
  }
}
