import { usageError } from '../../../base/errors/errors.ts';
import { isLosslessNumber, stringifyJson } from '../../../base/text/json.ts';
import { excerpt, positionText } from '../../rows/problem.ts';
import { Cells, type Manifest, type ManifestRow } from '../manifest.ts';
import { ChoiceTally } from './choice-tally.ts';
import { fieldNamer } from './column-names.ts';
import { type Condition, parseCondition } from './condition.ts';

/** The report columns that conditions name: `_code`, which has the name `_error_code` in failed.csv. */
export function ownColumnsIn(texts: readonly string[]): readonly string[] {
  const own = texts.map((text) => parseCondition(text).column).filter(isOwnColumn);
  return [...own, ...own.map(nameInFailed)];
}

function nameInFailed(title: string): string {
  return `_error${title}`;
}

function isOwnColumn(title: string): boolean {
  return title.startsWith('_');
}

/** Chooses rows by conditions, and counts them. */
export class RowChooser {
  readonly tally: ChoiceTally;
  readonly #conditions: readonly Condition[];
  readonly #nameOf = fieldNamer();

  constructor(texts: readonly string[]) {
    this.#conditions = texts.map(parseCondition);
    this.tally = new ChoiceTally(this.#conditions);
  }

  /**
   * @param source has the columns
   * @throws a usage error `WHERE_UNKNOWN_COLUMN` when no column matches a condition
   */
  refuseUnknown(source: string, columns: readonly string[]): void {
    const missing = this.#conditions.find((condition) => this.#titleOf(condition, columns) === undefined);
    if (missing === undefined) return;
    const titles = columns.map((title) => `"${excerpt(title)}"`).join(', ');
    throw usageError(
      'WHERE_UNKNOWN_COLUMN',
      `--where "${excerpt(missing.text)}": ${source} has no column "${excerpt(missing.column)}"; it has ${titles}`,
    );
  }

  /** Whether the conditions choose a row. @param place of the row, for people: `row 6, line 7` */
  isChosen(place: string, cells: ManifestRow['cells']): boolean {
    const titles = Object.keys(cells);
    const texts = this.#conditions.map((condition) => {
      const title = this.#titleOf(condition, titles);
      return title === undefined ? '' : textOf(cells[title]);
    });
    return this.tally.judge(place, texts);
  }

  #titleOf({ column, name }: Condition, titles: readonly string[]): string | undefined {
    if (isOwnColumn(column)) return [column, nameInFailed(column)].find((title) => titles.includes(title));
    return titles.includes(column) ? column : titles.find((title) => this.#nameOf(title) === name);
  }
}

/**
 * Keeps the numbers of chosen rows, and unreadable rows, whose cells are unknown.
 *
 * @throws a usage error `WHERE_UNKNOWN_COLUMN`; without a header after all rows were read
 */
export function chosenBy(texts: readonly string[], manifest: Manifest): Manifest {
  let chooser = new RowChooser(texts);
  const refuseUnknown = (): void => chooser.refuseUnknown(manifest.name, manifest.columns());
  if (manifest.hasHeader) refuseUnknown();
  const hasOwn = manifest.columns().some(isOwnColumn);
  return {
    ...manifest,
    columns: hasOwn ? () => manifest.columns().filter((title) => !isOwnColumn(title)) : manifest.columns,
    choice: () => chooser.tally,
    async *rows() {
      chooser = new RowChooser(texts);
      for await (const chunk of manifest.rows()) {
        const chosen = chunk
          .filter((row) => row.problem !== undefined || chooser.isChosen(positionText(row), row.cells))
          .map((each) => (hasOwn ? { ...each, cells: withoutOwn(each.cells) } : each));
        if (chosen.length > 0) yield chosen;
      }
      if (!manifest.hasHeader) refuseUnknown();
    },
  };
}

function withoutOwn(cells: ManifestRow['cells']): ManifestRow['cells'] {
  const rest = new Cells();
  for (const title in cells) if (!isOwnColumn(title)) rest[title] = cells[title];
  return rest;
}

/** The text of a cell for a condition. An omitted cell counts as empty. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object' && !isLosslessNumber(value)) return stringifyJson(value);
  return String(value).trim();
}
