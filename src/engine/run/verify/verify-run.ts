import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { withScope } from '../../../base/async/scope.ts';
import { ifThere } from '../../../base/disk/files.ts';
import { hashFile } from '../../../base/disk/hash-file.ts';
import { readJsonFile } from '../../../base/disk/json-file.ts';
import { CqbatchError } from '../../../base/errors/errors.ts';
import { delimiters } from '../../../base/text/delimiter.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { OutcomeCounts } from '../../../domain/terms.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { summaryFile } from '../../report/summary.ts';
import {
  actualState,
  goesOnByItself,
  type RunRecord,
  type RunState,
  runRecordSchema,
} from '../record/record.ts';
import { journalFile, openJournalReader, outcomesOf, unfinishedRows } from '../record/run-journal.ts';
import { openRunRows, rowsFile } from '../record/run-rows.ts';
import { openRunStore, type RunStore } from '../record/store.ts';
import { writeReportTo } from '../report/report-run.ts';
import { differenceOf } from './difference.ts';

export interface VerifyRunInput {
  /** The folder of the run. Nothing outside is read. */
  readonly folder: string;
  /** SHA-256 digests, in hexadecimal, that files of the run must have. */
  readonly against: readonly string[];
}

export type Verification =
  | {
      readonly agrees: true;
      readonly run: string;
      readonly state: RunState;
      readonly rows: number;
      readonly outcomes: OutcomeCounts;
      /** The SHA-256 of each verified file, by file name. */
      readonly digests: Readonly<Record<string, string>>;
    }
  /** What is wrong, with file and line. */
  | { readonly agrees: false; readonly problem: string };

/** The first thing that is wrong with the folder of a run. */
class Finding extends Error {}

/** @param problem a sentence part */
function wrong(file: string, problem: string): Finding {
  return new Finding(`${escapeInvisible(file)}: ${problem}.`);
}

/** Files of a report that follow from rows and journal. */
const derivedFiles = ['report.csv', 'failed.csv', 'correct.csv', 'not-attempted.csv', summaryFile];

/** Makes the report of a stopped run again from its rows and journal, and compares bytes. Says nothing about who wrote these files. */
export async function verifyRun(input: VerifyRunInput): Promise<Verification> {
  try {
    return await comparisonOf(input);
  } catch (error) {
    if (error instanceof Finding || error instanceof CqbatchError)
      return { agrees: false, problem: error.message };
    throw error;
  }
}

async function comparisonOf({ folder, against }: VerifyRunInput): Promise<Verification> {
  const record = await readRecord(folder);
  const { id, plan } = record;
  const store = { ...openRunStore(dirname(folder), []), folder: () => folder };
  const digests = await digestsOf(folder);
  if (digests[rowsFile] !== record.rows.sha256) throw wrong(rowsFile, 'is not the file that run.json names');
  const { head } = await openRunRows(store, record);
  const other = Object.entries(head.counts).find(
    ([name, count]) => count !== plan[name as keyof typeof plan],
  );
  if (other !== undefined) throw wrong('run.json', `has another number of ${other[0]} than ${rowsFile}`);
  return withScope(async (defer) => {
    const journal = await openJournalReader(store, record);
    defer(() => journal.close());
    await requireResults(store, record, journal);
    await requireSameReport(store, record, journal);
    for (const digest of against)
      if (!Object.values(digests).includes(digest))
        throw new Finding(`No file of the run has the SHA-256 ${digest}.`);
    return {
      agrees: true,
      run: id,
      state: actualState(record),
      rows: plan.rows,
      outcomes: outcomesOf(record, journal),
      digests,
    };
  });
}

async function readRecord(folder: string): Promise<RunRecord> {
  const path = join(folder, 'run.json');
  const record = await readJsonFile(path, runRecordSchema, () => wrong('run.json', 'is damaged'));
  if (record === undefined) throw wrong('run.json', 'is missing');
  if (goesOnByItself(record)) throw wrong('run.json', 'says that the run is in progress: wait for its end');
  return record;
}

async function digestsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {};
  for (const name of [rowsFile, journalFile, 'report.csv', summaryFile]) {
    const digest = await ifThere(hashFile(join(folder, name)));
    if (digest === undefined) throw wrong(name, 'is missing');
    digests[name] = digest.sha256;
  }
  return digests;
}

/** @throws a finding when a row lacks a result, or has one that it can't have */
async function requireResults(store: RunStore, record: RunRecord, journal: JournalReader): Promise<void> {
  const unfinished = unfinishedRows(record, journal);
  if (record.state === 'completed' && unfinished !== 0)
    throw wrong(journalFile, `${unfinished} rows have no result`);
  for await (const part of (await openRunRows(store, record)).rows()) {
    const odd = part.find(({ kind, place }) => kind !== 'callable' && journal.isFinished(place));
    if (odd !== undefined) throw wrong(journalFile, `has a result of row ${odd.row}, which is not called`);
  }
  const { counts } = record;
  if (counts !== undefined && !isDeepStrictEqual({ ...counts }, { ...outcomesOf(record, journal) }))
    throw wrong('run.json', `counts other results than ${journalFile} has`);
}

const writtenSummary = z.looseObject({ retries: z.array(z.string()), delimiter: z.enum(delimiters) });

async function requireSameReport(store: RunStore, record: RunRecord, journal: JournalReader): Promise<void> {
  const folder = store.folder(record.id);
  const { retries, delimiter } = summaryIn(await readFile(join(folder, summaryFile), 'utf8'));
  await inTemporaryFolder(async (temporary) => {
    await writeReportTo(store, record, journal, { folder: temporary, delimiter });
    const again = `"cqbatch report ${record.id}" makes the report again from ${rowsFile} and ${journalFile}`;
    const why = retries.length === 0 ? '' : `; ${summaryFile} says that it has the results of retries, too`;
    for (const name of derivedFiles) {
      const difference = await differenceOf(join(folder, name), join(temporary, name));
      if (difference !== undefined) throw wrong(name, `${difference} (${again}${why})`);
    }
  });
}

function summaryIn(text: string): z.infer<typeof writtenSummary> {
  try {
    return writtenSummary.parse(JSON.parse(text));
  } catch {
    throw wrong(summaryFile, 'is damaged');
  }
}

async function inTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cqbatch-verify-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
