import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ifThere } from '../../disk/files.ts';
import { readJsonFile } from '../../disk/json-file.ts';
import type { OutcomeCounts } from '../../domain.ts';
import { CqbatchError } from '../../errors.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { hashFile } from '../../manifest/stage.ts';
import { findOperation, type Operation } from '../../operation/operation.ts';
import { readVersion } from '../../package.ts';
import { withReleases } from '../../releases.ts';
import type { RunSummary } from '../../report/summary.ts';
import { type Envelope, envelopeSchema, openEnvelope } from '../../signature/envelope.ts';
import type { PublicKey } from '../../signature/public-key.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { type RunRecord, type RunState, runRecordSchema } from '../record/record.ts';
import { journalFile, openJournalReader } from '../record/run-journal.ts';
import { statementFile } from '../record/statement-file.ts';
import { openRunStore, type RunStore } from '../record/store.ts';
import { copyReport } from '../report/report-run.ts';
import {
  predicateOf,
  type RunPredicate,
  runPredicateSchema,
  runPredicateType,
  statedFiles,
} from '../report/statement.ts';
import { checkPlan } from './check-plan.ts';
import { differenceOf } from './difference.ts';
import { Finding, wrong } from './finding.ts';

export interface VerifyRunInput {
  /** The folder of the run; nothing else is read. */
  readonly folder: string;
  /** The keys that may have signed the statement. */
  readonly keys: readonly PublicKey[];
  /** The keys that may have approved the plan. */
  readonly approvers: readonly PublicKey[];
  readonly operations: readonly Operation[];
}

/** What a folder proves. */
export type RunProof =
  | {
      readonly proved: true;
      readonly run: string;
      readonly state: RunState;
      readonly rows: number;
      readonly outcomes: OutcomeCounts;
      /** Fingerprint of the key that signed. */
      readonly signer: string;
      /** What could not be checked here: sentences. */
      readonly unchecked: readonly string[];
    }
  /** The first thing that is wrong: file, line, what. */
  | { readonly proved: false; readonly problem: string };

/** The files of a report that journal and manifest give. */
const derivedFiles = ['report.csv', 'failed.csv', 'not-attempted.csv', 'summary.json'];

/** Checks that the folder of an ended run is as its process left it, and that its files agree. */
export async function verifyRun(input: VerifyRunInput): Promise<RunProof> {
  try {
    return await proofOf(input);
  } catch (error) {
    // What makes a run unusable proves nothing either.
    if (error instanceof Finding || error instanceof CqbatchError)
      return { proved: false, problem: error.message };
    throw error;
  }
}

async function proofOf({ folder, keys, approvers, operations }: VerifyRunInput): Promise<RunProof> {
  const stated = await readStatement(folder, keys);
  await requireSameNames(folder, stated);
  for (const name of stated.digests.keys())
    if (name !== journalFile && !derivedFiles.includes(name)) await requireDigest(folder, stated, name);
  const record = await readRecord(folder, stated);
  const unapproved = await checkPlan(folder, record, approvers);
  const store = { ...openRunStore(dirname(folder), operations), folder: () => folder };
  return withReleases(async (atEnd) => {
    const journal = await openJournalReader(store, record, { checked: true });
    atEnd(() => journal.close());
    await requireDigest(folder, stated, journalFile, 'one of its last lines was changed, removed or put in');
    if (record.state === 'completed' && journal.finishedCount !== record.plan.rows)
      throw wrong(journalFile, `${record.plan.rows - journal.finishedCount} rows have no result`);
    const { summary, unchecked: uncompared } = await checkReport(store, record, journal, stated);
    for (const name of derivedFiles) if (stated.digests.has(name)) await requireDigest(folder, stated, name);
    requirePredicate(record, summary, stated.predicate);
    const { id, state, plan } = record;
    const { signer, predicate } = stated;
    const unchecked = [...unapproved, ...uncompared];
    return { proved: true, run: id, state, rows: plan.rows, outcomes: predicate.outcomes, signer, unchecked };
  });
}

interface Stated {
  readonly predicate: RunPredicate;
  /** SHA-256 by the name of the file. */
  readonly digests: ReadonlyMap<string, string>;
  /** Fingerprint of the key. */
  readonly signer: string;
}

async function readStatement(folder: string, keys: readonly PublicKey[]): Promise<Stated> {
  const text = await ifThere(readFile(join(folder, statementFile), 'utf8'));
  if (text === undefined) {
    throw wrong(
      statementFile,
      'is missing: the run is in progress, or it was not signed ("cqbatch report RUN" signs it)',
    );
  }
  const envelope = envelopeIn(text);
  const { signers, statement } = opened(envelope, keys);
  const [signer] = signers;
  if (signer === undefined) {
    const key = escapeInvisible(envelope.signatures[0]?.keyid ?? '');
    throw wrong(
      statementFile,
      `was signed with the key ${key}, which is not known here: if you know that key, pass its public key with --key FILE`,
    );
  }
  const { success, data } = runPredicateSchema.safeParse(statement.predicate);
  if (statement.predicateType !== runPredicateType || !success || data.key !== signer.text)
    throw wrong(statementFile, 'is not the statement of a run by this version of cqbatch');
  const digests = new Map(statement.subject.map(({ name, digest }) => [name, digest.sha256]));
  return { predicate: data, digests, signer: signer.fingerprint };
}

/** Accepts a file only as it is written, so that each changed byte is found. */
function envelopeIn(text: string): Envelope {
  let envelope: Envelope | undefined;
  try {
    envelope = envelopeSchema.parse(JSON.parse(text));
  } catch {
    // Reported below.
  }
  if (envelope?.signatures.length !== 1 || `${JSON.stringify(envelope, null, 2)}\n` !== text)
    throw wrong(statementFile, 'was changed: it is not as cqbatch writes it');
  return envelope;
}

function opened(envelope: Envelope, keys: readonly PublicKey[]): ReturnType<typeof openEnvelope> {
  try {
    return openEnvelope(envelope, keys);
  } catch (error) {
    throw wrong(statementFile, `was changed: ${(error as Error).message}`);
  }
}

async function requireSameNames(folder: string, { digests }: Stated): Promise<void> {
  const names = await statedFiles(folder);
  const missing = [...digests.keys()].find((name) => !names.includes(name));
  if (missing !== undefined) throw wrong(missing, 'is missing');
  const more = names.find((name) => !digests.has(name));
  if (more !== undefined) throw wrong(more, 'was put in after the run had ended');
}

async function requireDigest(
  folder: string,
  { digests }: Stated,
  name: string,
  problem = 'was changed after the run had ended',
): Promise<void> {
  const { sha256 } = await hashFile(join(folder, name));
  if (sha256 !== digests.get(name)) throw wrong(name, problem);
}

/** The record of the run as its report sees it: where its process was killed, only the statement says that it has ended. */
async function readRecord(folder: string, { predicate, digests }: Stated): Promise<RunRecord> {
  const path = join(folder, 'run.json');
  const record = await readJsonFile(path, runRecordSchema, () => wrong('run.json', 'is damaged'));
  if (record === undefined) throw wrong('run.json', 'is missing');
  const { file, sha256 } = record.manifest;
  if (digests.get(file) !== sha256) throw wrong(file, 'is not the manifest that run.json names');
  return { ...record, state: predicate.state };
}

/** Writes the report again, and compares it with the one of the run. */
async function checkReport(
  store: RunStore,
  record: RunRecord,
  journal: JournalReader,
  { predicate, digests }: Stated,
): Promise<{ readonly summary: RunSummary | undefined; readonly unchecked: readonly string[] }> {
  const { retries, version, delimiter } = predicate;
  const missing = record.plan.operations.filter(
    (name) => findOperation(store.operations, name) === undefined,
  );
  const files = 'Its report is as signed, but was not compared with the journal:';
  if (missing.length > 0) {
    const module = `pass --operations with the module that has ${missing.join(', ')}.`;
    return { summary: undefined, unchecked: [`${files} ${module}`] };
  }
  if (retries.length > 0)
    return {
      summary: undefined,
      unchecked: [`${files} it has the results of the retries ${retries.join(', ')}, too.`],
    };
  const folder = store.folder(record.id);
  return inTemporaryFolder(async (temporary) => {
    const { summary } = await copyReport(store, record, journal, { folder: temporary, delimiter });
    for (const name of derivedFiles) {
      const difference = await differenceOf(join(folder, name), join(temporary, name));
      if (difference === undefined) continue;
      const isAsSigned = (await hashFile(join(folder, name))).sha256 === digests.get(name);
      if (isAsSigned && version !== readVersion())
        return {
          summary,
          unchecked: [`${files} version ${version} wrote it, and this is ${readVersion()}.`],
        };
      throw wrong(name, `${difference} from what journal and manifest give`);
    }
    return { summary, unchecked: [] };
  });
}

async function inTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'cqbatch-verify-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function requirePredicate(record: RunRecord, summary: RunSummary | undefined, predicate: RunPredicate): void {
  if (summary === undefined) return;
  const expected: Readonly<Record<string, unknown>> = predicateOf(record, summary, predicate);
  for (const [name, value] of Object.entries(predicate)) {
    if (!isDeepStrictEqual(value, expected[name]))
      throw wrong(statementFile, `says another "${name}" than the files of the run`);
  }
}
