import { counted } from '../../../base/text/format.ts';
import { excerpt, positionText } from '../../rows/problem.ts';
import type { ColumnReading, ScanWarning } from '../columns/column-advice.ts';
import type { RowChoice } from '../manifest.ts';
import type { DoneRows } from './call-index.ts';
import type { NotedRows } from './cell-notices.ts';

interface Effects {
  readonly whyEncodingUnused: string | undefined;
  readonly choice: RowChoice | undefined;
  readonly done: DoneRows | undefined;
  readonly doneIn: ReadonlyMap<string, number>;
  readonly prepare: Pick<ColumnReading, 'operations' | 'defaults' | 'filled'>;
  readonly callable: number;
  /** For each field of `--default`, the callable rows that have a value of their own. */
  readonly owners: ReadonlyMap<string, NotedRows>;
}

/** Warns of options without effect. Options that chose no row are refused elsewhere. */
export function effectWarnings({
  whyEncodingUnused,
  choice,
  done,
  doneIn,
  prepare,
  callable,
  owners,
}: Effects): readonly ScanWarning[] {
  const unused: string[] = [];
  if (whyEncodingUnused !== undefined) unused.push(`--encoding has no effect: ${whyEncodingUnused}`);
  if (choice !== undefined && choice.chosen > 0 && choice.leftOut === 0)
    unused.push('--where leaves no row out: each row meets it');
  if (done !== undefined && doneIn.size === 0)
    unused.push(
      `--skip-done ${done.sources.map(excerpt).join(', ')} leaves no row out: none of the rows was done there`,
    );
  const warnings: ScanWarning[] = [];
  for (const field of prepare.filled) {
    const owner = owners.get(field);
    if (owner === undefined || callable === 0) continue;
    const value = excerpt(prepare.defaults.get(field));
    const hasOption = prepare.operations.some(({ fields }) =>
      fields.some(({ name, option }) => name === field && option !== undefined),
    );
    const what = hasOption ? `--${field.replaceAll('_', '-')} ${value}` : `--default ${field}=${value}`;
    if (owner.rows === callable) unused.push(`${what} applies to no row: each has its own ${field}`);
    else {
      const message =
        `${counted(owner.rows, 'row', ['keeps its own', 'keep their own'])} ${field} (first: ${positionText(owner.first)}); ` +
        `${what} applies to the other ${counted(callable - owner.rows, 'row')}`;
      warnings.push({ code: 'DEFAULT_OVERRIDDEN', message });
    }
  }
  if (choice !== undefined && choice.chosen > 0)
    for (const message of choice.incomparable) warnings.push({ code: 'CELLS_INCOMPARABLE', message });
  return [...unused.map((message) => ({ code: 'OPTION_WITHOUT_EFFECT', message }) as const), ...warnings];
}
