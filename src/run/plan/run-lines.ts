import type { JournalView } from '../../journal/journal.ts';
import { subjectDigest } from '../../manifest/check/digest-table.ts';
import type { CallableRow, RowPreparer } from '../../manifest/columns/row-preparer.ts';
import { findOperation, type Operation } from '../../operation/operation.ts';
import type { AtEnd } from '../../releases.ts';
import { joinResults, type ReportLine } from '../../report/join-results.ts';
import { joinRetries, type ReportLines } from '../../report/join-retries.ts';
import { type RunRecord, unfinishedBecause } from '../record/record.ts';
import { readRowNumbers } from '../record/row-numbers.ts';
import { openJournalReader } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { openManifestCopy } from './run-manifest.ts';

/** The rows of a run with what became of them. */
export interface RunLines {
  /** In the order of the manifest, each with its number in the manifest that the user gave; to be read once. */
  readonly lines: ReportLines;
  readonly prepare: RowPreparer;
  /** The operations that occur in the run. */
  readonly operations: readonly Operation[];
}

export interface OpenRunLines extends RunLines {
  readonly journal: JournalView;
}

/** Reads a run from its manifest and its journal, also while it is going on. */
export async function readRunLines(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
): Promise<RunLines> {
  const { manifest, prepare } = await openManifestCopy(store, record);
  const joined = joinResults({
    rows: manifest.rows(),
    journal,
    unfinished: unfinishedBecause(record),
    operationOf: (row) => prepare(row).operation?.name ?? '',
  });
  const numberOf = await readRowNumbers(store.folder(record.id), record);
  return {
    lines: numberOf === undefined ? joined : renumbered(joined, numberOf),
    prepare,
    operations: record.plan.operations.flatMap((name) => findOperation(store.operations, name) ?? []),
  };
}

/** Reads a run that is not worked on here. Its journal is open until the end. */
export async function openRunLines(store: RunStore, record: RunRecord, atEnd: AtEnd): Promise<OpenRunLines> {
  const journal = await openJournalReader(store, record);
  atEnd(() => journal.close());
  return { ...(await readRunLines(store, record, journal)), journal };
}

/** Reads a run that is not worked on here, each row as the latest of these retries has left it. */
export async function openLastLines(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  atEnd: AtEnd,
): Promise<RunLines> {
  const run = await openRunLines(store, record, atEnd);
  const retries: ReportLines[] = [];
  for (const retry of later) retries.push((await openRunLines(store, retry, atEnd)).lines);
  return { ...run, lines: joinRetries(run.lines, retries) };
}

/** A row that can be called, with its call. */
export interface CallLine extends ReportLine {
  readonly call: CallableRow;
}

/** Those rows that are wanted and can be called, in parts. */
export async function* callsOf(
  { lines, prepare }: RunLines,
  isWanted: (line: ReportLine) => boolean = () => true,
): AsyncGenerator<readonly CallLine[]> {
  for await (const part of lines) {
    yield part.filter(isWanted).flatMap((line) => {
      const call = prepare(line.row);
      return call.kind === 'callable' ? [{ ...line, call }] : [];
    });
  }
}

/** What tells what a call acts on from all else, also of other operations. */
export function subjectKey({ operation, subject }: CallableRow): string {
  return subjectDigest({ operation: operation.name, subject });
}

async function* renumbered(lines: ReportLines, numberOf: (row: number) => number): ReportLines {
  for await (const part of lines) {
    yield part.map(({ row, result }) => {
      const number = numberOf(row.row);
      return { row: { ...row, row: number }, result: { ...result, row: number } };
    });
  }
}
