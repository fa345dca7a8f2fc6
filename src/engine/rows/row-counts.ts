import type { PlannedOperation, UnderstoodRow } from './row.ts';

/** Each row is exactly one of callable, invalid, duplicate, superseded, done before and as wanted. */
export interface RowCounts {
  readonly rows: number;
  readonly callable: number;
  readonly invalid: number;
  /** Rows instead of which an earlier row with the same request is called. */
  readonly duplicates: number;
  /** Rows instead of which a later row with the same subject and another request is called. */
  readonly superseded: number;
  readonly doneBefore: number;
  /** Rows whose entries were listed as the rows want them. */
  readonly asWanted: number;
  /** Callable rows with the subject of an earlier callable row, but another request. */
  readonly conflicts: number;
  /** Callable rows that omit fields which the service might reset. */
  readonly partial: number;
}

export function subjectsOf({ callable, conflicts }: RowCounts): number {
  return callable - conflicts;
}

type MutableCounts = { -readonly [Name in keyof RowCounts]: RowCounts[Name] };

/** Adds up the counts of parts. Other members of the parts are ignored. */
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
    asWanted: 0,
    conflicts: 0,
    partial: 0,
  };
}

export interface OperationSummary extends RowCounts {
  readonly thing: string;
  readonly first?: RowSubject;
  readonly last?: RowSubject;
  /** What the callable rows do to each optional field, by name. */
  readonly fields: Readonly<Record<string, FieldCounts>>;
}

type RowSubject = Pick<UnderstoodRow, 'row' | 'subject'>;

export interface FieldCounts {
  /** Rows that give the field, even as the empty text; of compared rows, those that change the field. */
  readonly given: number;
  /** Rows that give the field as the empty text. */
  readonly cleared: number;
  readonly absent: number;
}

/** Counts the rows of one operation, or rows without a known operation. */
export class RowTally {
  readonly counts = noRows();
  readonly #operation: PlannedOperation | undefined;
  readonly #fields: readonly { readonly name: string; given: number; cleared: number }[];
  #first: RowSubject | undefined;
  #last: RowSubject | undefined;

  constructor(operation?: PlannedOperation) {
    this.#operation = operation;
    this.#fields = (operation?.fields ?? [])
      .filter(({ required }) => !required)
      .map(({ name }) => ({ name, given: 0, cleared: 0 }));
  }

  count(what: Exclude<keyof RowCounts, 'rows' | 'callable' | 'conflicts' | 'partial'>): void {
    this.counts.rows++;
    this.counts[what]++;
  }

  countCallable(
    { row, subject, values, old, compared, operation }: UnderstoodRow,
    isConflict: boolean,
  ): void {
    let lacksField = false;
    for (const field of this.#fields) {
      const { name } = field;
      const value = compared && old?.[name] === undefined ? undefined : values[name];
      if (value === undefined) lacksField = true;
      else field.given++;
      if (value === '') field.cleared++;
    }
    this.#last = { row, subject };
    this.#first ??= this.#last;
    this.counts.rows++;
    this.counts.callable++;
    if (isConflict) this.counts.conflicts++;
    if (lacksField && operation.mayReset && !compared) this.counts.partial++;
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
