import { fieldNameOf } from '../column-names.ts';

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
  readonly #nameByColumn = new Map<string, string | null>();

  /** @param names what columns may stand for, in snake_case. */
  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** The known name that a column stands for. */
  nameOf(column: string): string | undefined {
    let name = this.#nameByColumn.get(column);
    if (name === undefined) {
      const meant = fieldNameOf(column);
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
