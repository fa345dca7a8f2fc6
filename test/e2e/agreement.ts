import { expect } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import type { Cells } from '../helpers/run-folder.ts';

/** Faults after which the answer does not show whether the request was processed. */
const unclearFaults = new Set([
  'reset',
  'timeout',
  '500',
  '503',
  'reset-after-commit',
  'timeout-after-commit',
  '500-after-commit',
  '502-after-commit',
  '504-after-commit',
  'malformed',
  'wrong-id',
  'cut-body',
]);

export interface AgreementOptions {
  /** Whether processes were killed: then an attempt may have been counted whose request never left. */
  readonly killed?: boolean;
  /** Whether the datastore lost what it held: then nothing tells how often unclear rows were called. */
  readonly forgotten?: boolean;
}

/**
 * Compares a report with what the API saw, row by row: calls made, outcome, unclear marks. Rows that act on the same
 * thing must be identical duplicates.
 */
export function expectAgreement(
  report: readonly Cells[],
  log: readonly LogEntry[],
  options: AgreementOptions = {},
): void {
  expect(disagreements(report, log, options)).toEqual([]);
}

/** In what report and API disagree. */
export function disagreements(
  report: readonly Cells[],
  log: readonly LogEntry[],
  options: AgreementOptions,
): string[] {
  const calls = callsByRow(log);
  const found: string[] = [];
  for (const row of report) {
    const key = `${row['_operation']} ${row['evaluation_id'] || row['soundboard_id']}`;
    const seen = callsOf(row, calls);
    const outcome = row['_outcome'];
    if (outcome === 'invalid' || outcome === 'duplicate') continue;
    found.push(...disagreementsOf(row, seen, options).map((what) => `row ${row['_row']} (${key}): ${what}`));
  }
  return found;
}

/** Faults of the answer's body: the status of a refusal says enough without it. */
const bodyFaults = new Set(['malformed', 'wrong-id', 'cut-body']);

function isUnclear({ fault, code }: LogEntry): boolean {
  return fault !== null && unclearFaults.has(fault) && !(bodyFaults.has(fault) && code !== 'OK');
}

/** Whether the API gave a row's worker reason to doubt what became of a call. */
export function hasUnclearFault(row: Cells, calls: ReadonlyMap<string, readonly LogEntry[]>): boolean {
  return callsOf(row, calls).some(isUnclear);
}

/** The calls of a row of the report. */
export function callsOf(row: Cells, calls: ReadonlyMap<string, readonly LogEntry[]>): readonly LogEntry[] {
  return calls.get(`${row['_operation']} ${row['evaluation_id'] || row['soundboard_id']}`) ?? [];
}

/** The calls that were seen, by operation and identifier. */
export function callsByRow(log: readonly LogEntry[]): ReadonlyMap<string, readonly LogEntry[]> {
  const calls = new Map<string, LogEntry[]>();
  for (const entry of log) {
    const key = `${entry.operation} ${entry.id}`;
    const seen = calls.get(key);
    if (seen === undefined) calls.set(key, [entry]);
    else seen.push(entry);
  }
  return calls;
}

function disagreementsOf(
  row: Cells,
  seen: readonly LogEntry[],
  { killed = false, forgotten = false }: AgreementOptions,
): string[] {
  const found: string[] = [];
  const attempts = Number(row['_attempts']);
  const unclear = row['_unclear'] === 'yes';
  const traced = seen.at(-1)?.traceparent?.split('-')[1];
  // Reports of an earlier version don't have the column.
  const told = row['_request_id'] ?? traced;
  if (traced !== undefined && !killed && told !== traced) found.push('reported with another trace id');
  const admitted = seen.filter(({ throttled }) => !throttled);
  const doubtful = seen.some(isUnclear);

  const isForgotten = forgotten && unclear;
  if (killed ? attempts < seen.length && !isForgotten : attempts !== seen.length) {
    found.push(`${attempts} attempts reported, ${seen.length} calls seen`);
  }
  if (doubtful && !unclear) found.push('an unclear attempt is not marked');
  if (!killed && unclear && !doubtful) found.push('marked unclear without reason');
  if (killed && attempts > seen.length && !unclear) found.push('a lost attempt is not marked');
  // What was answered clearly needs no second call; only a lost or unclear one does.
  if (!unclear && admitted.filter(({ fault }) => fault === null || fault === 'slow-body').length > 1) {
    found.push('called again after a clear answer');
  }
  const committed = seen.some((entry) => entry.committed);
  if (row['_outcome'] === 'succeeded' && !committed && row['_code'] === 'OK')
    found.push('reported done, never done');
  if (row['_outcome'] === 'failed' && committed && !unclear) found.push('reported failed, yet done');
  if (row['_outcome'] === 'not_attempted' && admitted.length > 0)
    found.push('reported as not attempted, yet called');
  return found;
}

/** Every row of the manifest once, in order. */
export function expectEveryRowOnce(report: readonly Cells[], rows: number): void {
  expect(report.map((row) => Number(row['_row']))).toEqual(
    Array.from({ length: rows }, (_, index) => index + 1),
  );
}
