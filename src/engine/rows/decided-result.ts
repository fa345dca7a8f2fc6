import type { RowCode } from '../../domain/codes.ts';
import type { RowResult } from '../../domain/row-result.ts';
import { noOutcomes, type Outcome, type OutcomeCounts } from '../../domain/terms.ts';
import type { DecidedRow, InvalidRow } from './row.ts';
import type { RowCounts } from './row-counts.ts';

/** The result of a row that is not called. Undefined for a callable row. */
export function decidedResult(row: DecidedRow): RowResult | undefined {
  if (row.kind === 'callable') return undefined;
  if (row.kind === 'invalid') return uncalledResult(row, 'invalid', 'INVALID_ROW', problemsText(row));
  const { because, operation, subject } = row;
  switch (because.why) {
    case 'duplicate':
      return { ...uncalledResult(row, 'duplicate', 'DUPLICATE', ''), duplicateOf: because.of };
    case 'superseded': {
      const what = `also changes ${operation.thing} ${subject}`;
      return uncalledResult(
        row,
        'skipped',
        'SUPERSEDED',
        `row ${because.by}, which ${what}, is called instead`,
      );
    }
    case 'as wanted':
      return uncalledResult(row, 'skipped', 'AS_WANTED', '');
    case 'done': {
      const { source, row: number } = because.before;
      return uncalledResult(row, 'skipped', 'DONE_BEFORE', `done before, in row ${number} of ${source}`);
    }
  }
}

function uncalledResult(
  { row, operation }: DecidedRow,
  outcome: Outcome,
  code: RowCode,
  message: string,
): RowResult {
  return { row, operation: operation?.name ?? '', outcome, code, message, attempts: 0, unclear: false };
}

function problemsText({ problems }: InvalidRow): string {
  return problems
    .map(({ column, problem, value }) => {
      const where = column === undefined ? '' : `${column}: `;
      return `${where}${problem}${value === undefined ? '' : ` (${value})`}`;
    })
    .join('; ');
}

export function decidedCounts({
  invalid,
  duplicates,
  superseded,
  doneBefore,
  asWanted,
}: Pick<RowCounts, 'invalid' | 'duplicates' | 'superseded' | 'doneBefore' | 'asWanted'>): {
  readonly outcomes: OutcomeCounts;
  readonly codes: readonly { readonly outcome: Outcome; readonly code: RowCode; readonly count: number }[];
} {
  const codes = [
    { outcome: 'invalid', code: 'INVALID_ROW', count: invalid },
    { outcome: 'duplicate', code: 'DUPLICATE', count: duplicates },
    { outcome: 'skipped', code: 'SUPERSEDED', count: superseded },
    { outcome: 'skipped', code: 'DONE_BEFORE', count: doneBefore },
    { outcome: 'skipped', code: 'AS_WANTED', count: asWanted },
  ] as const;
  const outcomes = noOutcomes();
  for (const { outcome, count } of codes) outcomes[outcome] += count;
  return { outcomes, codes: codes.filter(({ count }) => count > 0) };
}
