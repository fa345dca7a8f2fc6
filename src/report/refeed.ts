import type { FieldNamer } from '../manifest/columns/column-names.ts';
import { fieldNameOf } from '../manifest/columns/column-names.ts';
import { cellText, type Guard } from '../manifest/formula-guard.ts';
import type { ManifestRow } from '../manifest/manifest.ts';

export interface RefeedOptions {
  /** Original column names, in order. */
  readonly columns: readonly string[];
  /** The token that stands for the empty string. */
  readonly clearToken: string;
  /** Keeps programs from running what cells say. */
  readonly guard: Guard;
  /** Field name to the value that rows have which leave it out, from `--default` or the manifest's `defaults`. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** What a column stands for. */
  readonly fieldOf: FieldNamer;
  /** Names that columns may stand for: of several columns for one of them, CSV can have one only. */
  readonly known: ReadonlySet<string>;
}

/** The cells of a row for a file that can be fed back. */
export interface RefeedCells {
  readonly cells: readonly string[];
  /** Whether CSV cannot hold the row as it was: the cells are not quite the same. */
  readonly altered: boolean;
}

const operationField = 'operation';

/** What UTF-8 cannot encode; it becomes U+FFFD. */
const loneSurrogate = /\p{Cs}/u;

/** One column of the file, and the original ones from which its cells come. */
interface RefeedColumn {
  readonly title: string;
  readonly sources: string[];
  /** The field that the column stands for, if it has a value for rows that leave it out. */
  readonly field?: string;
}

/**
 * Writes rows as CSV cells that read back as the same rows, without any option: the operation is always said, and the
 * defaults are filled in.
 */
export class RefeedRows {
  readonly #columns: readonly RefeedColumn[];
  readonly #options: RefeedOptions;

  constructor(options: RefeedOptions) {
    this.#options = options;
    this.#columns = layOut(options);
  }

  get header(): readonly string[] {
    const { clearToken, guard } = this.#options;
    return this.#columns.map(({ title }) => guard(title, { clearToken }));
  }

  /** @param operation name of the row's operation, empty when it is not known. */
  cells(row: ManifestRow, operation: string): RefeedCells {
    const { clearToken, defaults, guard } = this.#options;
    let altered = false;
    const cells = this.#columns.map(({ sources, field }) => {
      const isOperation = field === operationField;
      const given = sources.map((source) => row.cells[source]).filter(isOperation ? isSaid : isGiven);
      if (given.length > 1) altered = true;
      const fallback = isOperation ? operation || undefined : field && defaults.get(field);
      const text = cellText(given.length > 0 ? given[0] : fallback, clearToken, guard);
      if (loneSurrogate.test(text)) altered = true;
      return text;
    });
    return { cells, altered };
  }
}

function layOut({ columns, defaults, fieldOf, known }: RefeedOptions): readonly RefeedColumn[] {
  const filled = new Set([operationField, ...defaults.keys()]);
  const laidOut: RefeedColumn[] = [];
  const byField = new Map<string, RefeedColumn>();
  for (const title of columns) {
    // A cell without a column name would make the whole row invalid.
    if (title.trim() === '') continue;
    const field = fieldOf(title);
    const sameField = byField.get(field);
    if (sameField !== undefined) {
      sameField.sources.push(title);
      continue;
    }
    // A file that is fed back needs no `--map`.
    const isMapped = field !== fieldNameOf(title);
    const column = { title: isMapped ? field : title, sources: [title], ...(filled.has(field) && { field }) };
    laidOut.push(column);
    if (known.has(field) || filled.has(field)) byField.set(field, column);
  }
  for (const field of filled) {
    if (!byField.has(field)) laidOut.push({ title: field, sources: [], field });
  }
  return laidOut;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A row that says the empty string leaves its operation out, too. */
function isSaid(value: unknown): boolean {
  return isGiven(value) && value !== '';
}
