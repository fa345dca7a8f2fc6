import { usageError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import { outcomes } from '../../../domain/terms.ts';
import type { ColumnMap } from '../../manifest/columns/column-names.ts';
import { createRowPreparer, type RowPreparer } from '../../manifest/columns/row-preparer.ts';
import type { Manifest, ManifestRow } from '../../manifest/manifest.ts';
import { openManifest } from '../../manifest/open.ts';
import type { ReadingContext } from '../../manifest/text/source.ts';
import { requiredNames } from '../../operation/field-names.ts';
import { findOperation, type Operation } from '../../operation/operation.ts';
import { formatProblem } from '../../rows/problem.ts';

export interface ReportedRow extends Pick<RowResult, 'row' | 'operation' | 'outcome' | 'code'> {
  readonly subject: string;
}

export interface ReadReportOptions {
  readonly map?: ColumnMap | undefined;
  readonly clearToken: string;
  readonly operations: readonly Operation[];
  readonly context?: ReadingContext | undefined;
}

const ownColumns = ['_row', '_operation', '_outcome', '_code'];

/**
 * Reads a report.csv with any delimiter, or a report.xlsx, without invalid rows.
 *
 * @throws a usage error `NOT_A_REPORT`, also when the subject of a row is missing
 */
export async function* readReport(
  path: string,
  { map, clearToken, operations, context }: ReadReportOptions,
): AsyncGenerator<readonly ReportedRow[], void, undefined> {
  const report = await openManifest(path, {
    clearToken,
    context: { ...context, operations },
    keptColumns: ownColumns,
  });
  const columns = report.columns();
  const lacking = ownColumns.filter((column) => !columns.includes(column));
  if (lacking.length > 0) {
    throw notAReportError(
      report,
      `it has no column ${lacking.join(', ')}. Give a report.csv, or the id of a run`,
    );
  }
  const preparers = new Map<Operation, RowPreparer>();
  const preparerOf = (known: Operation): RowPreparer => {
    const existing = preparers.get(known);
    if (existing !== undefined) return existing;
    const manifest = { ...report, columns: () => columns.filter((column) => !ownColumns.includes(column)) };
    // The subject does not depend on defaults. 1 is valid for fields of all types.
    const defaults = Object.fromEntries(requiredNames(known).map((name) => [name, '1']));
    delete defaults[known.subject];
    const preparer = createRowPreparer({ manifest, operation: known.name, operations, defaults, map });
    preparers.set(known, preparer);
    return preparer;
  };
  for await (const chunk of report.rows()) {
    const rows: ReportedRow[] = [];
    for (const row of chunk) {
      const result = resultOf(report, row);
      if (result.outcome === 'invalid') continue;
      const known = findOperation(operations, result.operation);
      if (known === undefined) throw notAReportError(report, `line ${row.line} has an unknown _operation`);
      const prepared = preparerOf(known)(row);
      if (prepared.kind === 'callable') rows.push({ ...result, subject: prepared.subject });
      else {
        const [problem = { problem: 'the subject is missing' }] = prepared.problems;
        const remedy = 'use the --map and clear_token of that run';
        throw usageError('NOT_A_REPORT', `${formatProblem(report.name, row, problem)}; ${remedy}`);
      }
    }
    yield rows;
  }
}

function resultOf(report: Manifest, row: ManifestRow): Omit<ReportedRow, 'subject'> {
  if (row.problem !== undefined) throw notAReportError(report, `line ${row.line} ${row.problem.problem}`);
  const [number, operation = '', outcomeText, code = ''] = ownColumns.map((column) => row.cells[column]);
  const outcome = outcomes.find((known) => known === outcomeText);
  if (outcome === undefined) throw notAReportError(report, `line ${row.line} has an unknown _outcome`);
  return { row: Number(number), operation: String(operation), outcome, code: String(code) };
}

function notAReportError({ name }: Manifest, why: string): Error {
  return usageError('NOT_A_REPORT', `${escapeInvisible(name)} is not a report of cqbatch: ${why}.`);
}
