import { appendFile } from 'node:fs/promises';
import type { JournalView } from '../../journal/journal.ts';
import { subjectDigest } from '../../manifest/check/digest-table.ts';
import type { CallableRow, RowPreparer } from '../../manifest/columns/row-preparer.ts';
import { findOperation, type Operation } from '../../operation/operation.ts';
import type { AtEnd } from '../../releases.ts';
import { joinResults, type ReportLine } from '../../report/join-results.ts';
import { joinRetries, type ReportLines } from '../../report/join-retries.ts';
import { onDisk } from '../../system-error.ts';
import { stringifyJson } from '../../text/json.ts';
import { type RunRecord, unfinishedBecause } from '../record/record.ts';
import { readRowNumbers } from '../record/row-numbers.ts';
import { openJournalReader } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';
import { openManifestCopy } from './run-manifest.ts';

/** The rows of a run with their results. */
export interface RunLines {
  /** In the order of the manifest, with the row numbers of the user's manifest. Can be read once. */
  readonly lines: ReportLines;
  readonly prepare: RowPreparer;
  /** The operations used in the run. */
  readonly operations: readonly Operation[];
}

/** Reads a run from its manifest and its journal, even while the run is in progress. */
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
    lines: record.rowNumbers === undefined ? joined : renumbered(joined, numberOf),
    prepare,
    operations: record.plan.operations.flatMap((name) => findOperation(store.operations, name) ?? []),
  };
}

/** Reads a run that this process does not work on. Closes its journal at the end. */
export async function openRunLines(
  store: RunStore,
  record: RunRecord,
  atEnd: AtEnd,
): Promise<RunLines & { readonly journal: JournalView }> {
  const journal = await openJournalReader(store, record);
  atEnd(() => journal.close());
  return { ...(await readRunLines(store, record, journal)), journal };
}

/** Like `openRunLines`, each row with its result in the latest of these retries. */
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

/** A row that can be called, with its request. */
export interface CallLine extends ReportLine {
  readonly call: CallableRow;
}

/** The selected rows that can be called, in parts. */
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

/** Identifies the subject of a call among all operations. */
export function subjectKey({ operation, subject }: CallableRow): string {
  return subjectDigest({ operation: operation.name, subject });
}

/** A JSON Lines manifest made of rows of a run. Unlike CSV it holds any text exactly. */
export class RowsFile {
  /** Row numbers in the user's manifest, in order. */
  readonly rowNumbers: number[] = [];
  readonly #path: string;
  #texts: string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Adds a row, which the next `flush` writes. @returns its number in this manifest */
  add(rowNumber: number, cells: Readonly<Record<string, unknown>>): number {
    this.#texts.push(`${stringifyJson(cells)}\n`);
    return this.rowNumbers.push(rowNumber);
  }

  /** Creates the file if needed, even without rows. The file need not survive a power failure: the run copies it. */
  async flush(): Promise<void> {
    const texts = this.#texts.splice(0);
    await onDisk(this.#path, () => appendFile(this.#path, texts.join(''), { mode: 0o600 }));
  }
}

async function* renumbered(lines: ReportLines, numberOf: (row: number) => number): ReportLines {
  for await (const part of lines) {
    yield part.map(({ row, result }) => {
      const number = numberOf(row.row);
      return { row: { ...row, row: number }, result: { ...result, row: number } };
    });
  }
}
