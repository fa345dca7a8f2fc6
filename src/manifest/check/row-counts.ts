import type { CallableRow } from '../columns/row-preparer.ts';

/** Row counts. Each row is exactly one of callable, invalid, duplicate, superseded and done before. */
export interface RowCounts {
  readonly rows: number;
  /** Rows to be called. */
  readonly callable: number;
  readonly invalid: number;
  /** Rows whose request is that of an earlier row, which is called in their place. */
  readonly duplicates: number;
  /** Rows in whose place a later row of the same subject is called, with another request. */
  readonly superseded: number;
  /** Rows whose subject an earlier run has done, when the user wants these left out. */
  readonly doneBefore: number;
  /** Callable rows that act on the same subject as an earlier callable row, with another request. */
  readonly conflicts: number;
  /** Callable rows that leave out fields which the service might reset. */
  readonly partial: number;
}

/** Things that are acted on. */
export function subjectsOf({ callable, conflicts }: RowCounts): number {
  return callable - conflicts;
}

export type MutableCounts = { -readonly [Name in keyof RowCounts]: RowCounts[Name] };

export function noRows(): MutableCounts {
  return {
    rows: 0,
    callable: 0,
    invalid: 0,
    duplicates: 0,
    superseded: 0,
    doneBefore: 0,
    conflicts: 0,
    partial: 0,
  };
}

/** Counts one more row. */
export function countRow(counts: MutableCounts, what: Partial<RowCounts>): void {
  counts.rows++;
  for (const name in what) counts[name as keyof RowCounts] += what[name as keyof RowCounts] ?? 0;
}

/** What the rows of one operation come to. */
export interface OperationSummary extends RowCounts {
  /** What a row acts on, in one small word. */
  readonly thing: string;
  /** The rows to be called first and last. */
  readonly first?: RowSubject;
  readonly last?: RowSubject;
  /** What the rows to be called do to the fields that they may leave out, by the name of the field. */
  readonly fields: Readonly<Record<string, FieldCounts>>;
}

/** A row and what it acts on. */
interface RowSubject {
  readonly row: number;
  readonly subject: string;
}

/** Rows by what they do to a field. */
export interface FieldCounts {
  /** Rows that give it a value, the empty text included. */
  readonly given: number;
  /** Those of them that send the empty text. */
  readonly cleared: number;
  readonly absent: number;
}

/** Counts the rows of one operation. */
export class OperationTally {
  readonly #counts = noRows();
  readonly #thing: string;
  readonly #keepsOmitted: boolean;
  /** Fields that rows may leave out, in the order of the operation. */
  readonly #fields: readonly { readonly name: string; given: number; cleared: number }[];
  #first: RowSubject | undefined;
  #last: RowSubject | undefined;

  constructor({ thing, fields, keepsOmitted = false }: CallableRow['operation']) {
    this.#thing = thing;
    this.#keepsOmitted = keepsOmitted;
    this.#fields = fields
      .filter(({ required }) => !required)
      .map(({ name }) => ({ name, given: 0, cleared: 0 }));
  }

  count(what: Partial<RowCounts>): void {
    countRow(this.#counts, what);
  }

  /** @returns whether the row leaves out a field that the service might reset. */
  countCallable({ row, subject, values }: CallableRow, isConflict: boolean): boolean {
    let isPartial = false;
    for (const field of this.#fields) {
      const value = values[field.name];
      if (value === undefined) isPartial = !this.#keepsOmitted;
      else field.given++;
      if (value === '') field.cleared++;
    }
    this.#last = { row, subject };
    this.#first ??= this.#last;
    this.count({ callable: 1, partial: isPartial ? 1 : 0, conflicts: isConflict ? 1 : 0 });
    return isPartial;
  }

  summary(): OperationSummary {
    const { callable } = this.#counts;
    return {
      ...this.#counts,
      thing: this.#thing,
      ...(this.#first && { first: this.#first }),
      ...(this.#last && { last: this.#last }),
      fields: Object.fromEntries(
        this.#fields.map(({ name, given, cleared }) => [name, { given, cleared, absent: callable - given }]),
      ),
    };
  }
}
