import { cellText } from '../manifest/cell-text.ts';
import { guardCell } from '../manifest/formula-guard.ts';
import type { ManifestRow } from '../manifest/row.ts';
import { incompleteReport } from './failure.ts';

/** The manifest's own columns in report.csv. */
export class OriginalCells {
  readonly header: readonly string[];
  readonly #columns: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #clearToken: string;

  constructor(columns: readonly string[], clearToken: string) {
    this.header = columns.map((name) => guardCell(name, { clearToken }));
    this.#columns = columns;
    this.#known = new Set(columns);
    this.#clearToken = clearToken;
  }

  /** @throws a fatal error `REPORT_INCOMPLETE` when the row has a cell of another column. */
  cells({ row, cells }: ManifestRow): readonly string[] {
    for (const name in cells) {
      if (!this.#known.has(name)) {
        throw incompleteReport(
          `row ${row} of the manifest has a column "${name}", unknown when the run began`,
        );
      }
    }
    return this.#columns.map((name) => cellText(cells[name], this.#clearToken));
  }
}
