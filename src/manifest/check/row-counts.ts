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

type MutableCounts = { -readonly [Name in keyof RowCounts]: RowCounts[Name] };

/** What the counts of several tallies come to. */
export function sumOf(parts: readonly RowCounts[]): RowCounts {
  const sum = noRows();
  for (const part of parts)
    for (const name of Object.keys(sum) as (keyof RowCounts)[]) sum[name] += part[name];
  return sum;
}

function noRows(): MutableCounts {
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
type RowSubject = Pick<CallableRow, 'row' | 'subject'>;

/** Rows by what they do to a field. */
export interface FieldCounts {
  /** Rows that give it a value, the empty text included. */
  readonly given: number;
  /** Those of them that send the empty text. */
  readonly cleared: number;
  readonly absent: number;
}

/** Counts the rows of one operation, or those that say no known one. */
export class RowTally {
  readonly counts = noRows();
  readonly #operation: CallableRow['operation'] | undefined;
  /** Fields that rows may leave out, in the order of the operation. */
  readonly #fields: readonly { readonly name: string; given: number; cleared: number }[];
  #first: RowSubject | undefined;
  #last: RowSubject | undefined;

  constructor(operation?: CallableRow['operation']) {
    this.#operation = operation;
    this.#fields = (operation?.fields ?? [])
      .filter(({ required }) => !required)
      .map(({ name }) => ({ name, given: 0, cleared: 0 }));
  }

  count(what: 'invalid' | 'duplicates' | 'superseded' | 'doneBefore'): void {
    this.counts.rows++;
    this.counts[what]++;
  }

  countCallable({ row, subject, values, operation }: CallableRow, isConflict: boolean): void {
    let lacksField = false;
    for (const field of this.#fields) {
      const value = values[field.name];
      if (value === undefined) lacksField = true;
      else field.given++;
      if (value === '') field.cleared++;
    }
    this.#last = { row, subject };
    this.#first ??= this.#last;
    this.counts.rows++;
    this.counts.callable++;
    if (isConflict) this.counts.conflicts++;
    if (lacksField && !operation.keepsOmitted) this.counts.partial++;
  }

  summary(): OperationSummary {
    const { callable } = this.counts;
    return {
      ...this.counts,
      thing: this.#operation?.thing ?? '',
      ...(this.#first && { first: this.#first }),
      ...(this.#last && { last: this.#last }),
      fields: Object.fromEntries(
        this.#fields.map(({ name, given, cleared }) => [name, { given, cleared, absent: callable - given }]),
      ),
    };
  }
}
