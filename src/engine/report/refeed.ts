import { cellText, type Guard } from '../../base/text/formula-guard.ts';
import { hasLoneSurrogate } from '../../base/text/lost-characters.ts';
import { fieldNameOf } from '../operation/field-names.ts';
import type { RowsHead } from '../rows/head.ts';
import type { CellTexts } from '../rows/row.ts';

export interface RefeedOptions extends Pick<RowsHead, 'columns' | 'clear_token' | 'defaults'> {
  /** Keeps spreadsheets from running cells as formulas. */
  readonly guard: Guard;
}

export interface RefeedCells {
  readonly cells: readonly string[];
  /** Whether the cells differ from the row, because CSV can't hold it. */
  readonly isAltered: boolean;
}

const operationField = 'operation';

interface RefeedColumn {
  readonly title: string;
  /** The indexes of the original columns. */
  readonly sources: number[];
  /** The field of the column, if it has a default. Absent for any other field. */
  readonly field?: string;
}

/** Makes cells that read back as the same rows without options: operation and defaults are filled in. */
export class RefeedRows {
  readonly #columns: readonly RefeedColumn[];
  readonly #options: RefeedOptions;

  constructor(options: RefeedOptions) {
    this.#options = options;
    this.#columns = layOut(options);
  }

  get header(): readonly string[] {
    const { clear_token: clearToken, guard } = this.#options;
    return this.#columns.map(({ title }) => guard(title, { clearToken }));
  }

  /** The titles of columns that the manifest does not have. */
  get addedTitles(): ReadonlySet<string> {
    return new Set(this.#columns.filter(({ sources }) => sources.length === 0).map(({ title }) => title));
  }

  /** The cells of a row. @param operation empty when unknown */
  cells(row: { readonly cells: CellTexts }, operation: string): RefeedCells {
    const { clear_token: clearToken, defaults, guard } = this.#options;
    let isAltered = false;
    const cells = this.#columns.map(({ sources, field }) => {
      const isOperation = field === operationField;
      const present = sources
        .map((source) => row.cells[source])
        .filter(isOperation ? namesOperation : isPresent);
      if (present.length > 1) isAltered = true;
      const fallback = isOperation ? operation || undefined : field && defaults[field];
      const text = cellText(present.length > 0 ? present[0] : fallback, clearToken, guard);
      if (hasLoneSurrogate(text)) isAltered = true;
      return text;
    });
    return { cells, isAltered };
  }
}

function layOut({ columns, defaults }: RefeedOptions): readonly RefeedColumn[] {
  const filled = new Set([operationField, ...Object.keys(defaults)]);
  const laidOut: RefeedColumn[] = [];
  const byField = new Map<string, RefeedColumn>();
  for (const [place, { title, field }] of columns.entries()) {
    // A column without a title is left out: its cells would make the whole row invalid.
    if (title.trim() === '') continue;
    const sameField = field === undefined ? undefined : byField.get(field);
    if (sameField !== undefined) {
      sameField.sources.push(place);
      continue;
    }
    // A mapped column gets the name of its field, so that the file reads back without `--map`.
    const isMapped = field !== undefined && field !== fieldNameOf(title);
    const column = {
      title: isMapped ? field : title,
      sources: [place],
      ...(field !== undefined && filled.has(field) && { field }),
    };
    laidOut.push(column);
    if (field !== undefined) byField.set(field, column);
  }
  for (const field of filled) {
    if (!byField.has(field)) laidOut.push({ title: field, sources: [], field });
  }
  return laidOut;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function namesOperation(value: unknown): boolean {
  return isPresent(value) && value !== '';
}
