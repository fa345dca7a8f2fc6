import { usageError } from '../../errors.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Manifest } from '../manifest.ts';
import { oldNames } from './old-values.ts';

/** Limits of a manifest's columns: as many as a spreadsheet holds, and 1 MiB of names. */
export const maxColumns = 16_384;
export const maxColumnNamesLength = 1024 * 1024;

/** The names that columns may stand for. */
export function knownNames(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(['operation', ...operations.flatMap(fieldNames), ...operations.flatMap(oldNames)]);
}

/** The names of the fields of an operation. */
export function fieldNames({ fields }: Operation): readonly string[] {
  return fields.map(({ name }) => name);
}

/** The names of the fields that each row of an operation has. */
export function requiredNames({ fields }: Operation): readonly string[] {
  return fields.filter(({ required }) => required).map(({ name }) => name);
}

/**
 * The name that a column header stands for: `Evaluation ID`, `evaluationId`, `EVALUATION_ID` and `evaluation-id` all
 * stand for `evaluation_id`.
 */
export function fieldNameOf(header: string): string {
  return header
    .normalize('NFKC')
    .trim()
    .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, '$1_')
    .replace(/[\s\-_.]+/g, '_')
    .toLowerCase();
}

/** The name that a value of the column `operation` stands for: `Restore Evaluation` for `restore-evaluation`. */
export function operationNameOf(text: string): string {
  return fieldNameOf(text).replaceAll('_', '-');
}

/** The cells of a row by the names that their columns stand for. */
export interface MatchedCells {
  /** Cells of columns that stand for a known name; absent and null cells count as left out. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Columns that stand for the same name as one before them. */
  readonly clashes: readonly Clash[];
}

export interface Clash {
  readonly name: string;
  readonly column: string;
}

const noClashes: readonly Clash[] = [];

/** Matches column headers to known names, tolerantly; each header is looked at once, however many rows there are. */
export class CellMatcher {
  readonly #names: ReadonlySet<string>;
  readonly #fieldOf: (column: string) => string;
  readonly #nameByColumn = new Map<string, string | null>();

  /**
   * @param names what columns may stand for, in snake_case.
   * @param fieldOf what a column stands for; default is what its title says.
   */
  constructor(names: ReadonlySet<string>, fieldOf = fieldNameOf) {
    this.#names = names;
    this.#fieldOf = fieldOf;
  }

  /** The known name that a column stands for. */
  nameOf(column: string): string | undefined {
    let name = this.#nameByColumn.get(column);
    if (name === undefined) {
      const meant = this.#fieldOf(column);
      name = this.#names.has(meant) ? meant : null;
      this.#nameByColumn.set(column, name);
    }
    return name ?? undefined;
  }

  match(cells: Readonly<Record<string, unknown>>): MatchedCells {
    const given: Record<string, unknown> = {};
    let clashes = noClashes;
    for (const column in cells) {
      const name = this.nameOf(column);
      const value = cells[column];
      if (name === undefined || value === undefined || value === null) continue;
      if (given[name] === undefined) given[name] = value;
      else clashes = [...clashes, { name, column }];
    }
    return { given, clashes };
  }

  /** The first of the columns that stands for the name. */
  columnOf(name: string, columns: Iterable<string>): string | undefined {
    for (const column of columns) if (this.nameOf(column) === name) return column;
    return undefined;
  }
}

/**
 * Checks that no two columns of delimited text stand for the same field. (JSON rows may differ in how they call a
 * field; there each row is checked.)
 *
 * @throws CqbatchError (`usage`, `MANIFEST_AMBIGUOUS_COLUMN`).
 */
export function refuseAmbiguousColumns(
  { name: file, format, columns }: Pick<Manifest, 'name' | 'format' | 'columns'>,
  operations: readonly Operation[],
  fieldOf: (column: string) => string,
): void {
  if (format === 'json' || format === 'jsonl') return;
  const matcher = new CellMatcher(knownNames(operations), fieldOf);
  const columnByField = new Map<string, string>();
  for (const column of columns()) {
    const field = matcher.nameOf(column);
    if (field === undefined) continue;
    const other = columnByField.get(field);
    if (other !== undefined) {
      throw usageError(
        'MANIFEST_AMBIGUOUS_COLUMN',
        `${file}: columns "${other}" and "${column}" both stand for ${field}; rename or delete one`,
      );
    }
    columnByField.set(field, column);
  }
}
