import { RowChooser } from '../manifest/columns/where.ts';
import type { RowChoice } from '../manifest/manifest.ts';
import type { ListedEntry, OperationList } from '../operation/list-definition.ts';
import type { Operation } from '../operation/operation.ts';

export interface ListingOperation extends Operation {
  readonly list: OperationList;
}

/** Chooses entries of a list for a manifest of the operation, and counts those left out. */
export class ChosenEntries {
  readonly operation: ListingOperation;
  /** The columns of the manifest, the fields of the operation first. */
  readonly columns: readonly string[];
  chosen = 0;
  /** Entries that meet the conditions, but on which the operation can't act, by the reason. */
  readonly unfit = new Map<string, number>();
  readonly #chooser: RowChooser | undefined;

  /**
   * @param where conditions, as for rows of a manifest
   * @throws a usage error `WHERE_UNKNOWN_COLUMN`
   */
  constructor(operation: ListingOperation, where: readonly string[] | undefined) {
    const { name, fields, columns } = operation.list;
    this.operation = operation;
    this.columns = [...fields, ...columns];
    this.#chooser = where && new RowChooser(where);
    this.#chooser?.refuseUnknown(`the list ${name}`, this.columns);
  }

  /** How the conditions have chosen. Absent without conditions. */
  get choice(): RowChoice | undefined {
    return this.#chooser?.tally;
  }

  /** The rows of the manifest: the texts of the columns, for each chosen entry. */
  async *rows(
    entries: AsyncIterable<readonly ListedEntry[]>,
  ): AsyncGenerator<readonly (readonly string[])[]> {
    for await (const chunk of entries) {
      const rows = chunk.flatMap((entry) => this.#rowOf(entry));
      this.chosen += rows.length;
      if (rows.length > 0) yield rows;
    }
  }

  #rowOf({ id, fields, columns, unfit }: ListedEntry): readonly (readonly string[])[] {
    const cells = { ...fields, ...columns };
    const place = `${this.operation.thing} ${id}`;
    if (this.#chooser?.isChosen(place, cells) === false) return [];
    if (unfit === undefined) return [this.columns.map((column) => cells[column] ?? '')];
    this.unfit.set(unfit, (this.unfit.get(unfit) ?? 0) + 1);
    return [];
  }
}
