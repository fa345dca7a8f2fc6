import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { actorSchema } from '../../actor.ts';
import { countsSchema } from '../../cluster/entries.ts';
import { writeJsonFile } from '../../disk/json-file.ts';
import { delimiters } from '../../manifest/manifest.ts';
import { hashFile } from '../../manifest/stage.ts';
import { readVersion } from '../../package.ts';
import type { RunSummary } from '../../report/summary.ts';
import { type Statement, signStatement } from '../../signature/envelope.ts';
import { machineKey } from '../../signature/machine-key.ts';
import { actualState, type RunRecord, runStates } from '../record/record.ts';
import { journalFile } from '../record/run-journal.ts';
import { readEnvelope, statementFile } from '../record/statement-file.ts';
import type { RunStore } from '../record/store.ts';

/** The final statement of a run: what it did, and the digests of its files. docs/proof.md describes it. */

export const runPredicateType = 'urn:callquality-batch:run:1';

export const runPredicateSchema = z.strictObject({
  run: z.string(),
  state: z.enum(runStates),
  base_url: z.string(),
  manifest_sha256: z.string(),
  /** Size of the journal: what is appended later is not covered. */
  journal_bytes: z.number(),
  /** The signed-off plan, and the fingerprints of its approvers. */
  plan: z.strictObject({ sha256: z.string(), approvers: z.array(z.string()) }).exactOptional(),
  rows: z.number(),
  outcomes: countsSchema,
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  /** The states of the run, and the users who requested them. */
  states: z.array(
    z.strictObject({ state: z.enum(runStates), at: z.string(), by: actorSchema.exactOptional() }),
  ),
  /** Of the CSV files. */
  delimiter: z.enum(delimiters),
  /** Runs whose results the report has, too. */
  retries: z.array(z.string()),
  /** The version that wrote the report. */
  version: z.string(),
  /** The public key of the signer, in OpenSSH's form. */
  key: z.string(),
});

export type RunPredicate = Readonly<z.infer<typeof runPredicateSchema>>;

/** What a statement says about a run, from its record and its report. */
export function predicateOf(
  record: RunRecord,
  { outcomes, started_at, finished_at, retries }: RunSummary,
  {
    journal_bytes,
    delimiter,
    version,
    key,
  }: Pick<RunPredicate, 'journal_bytes' | 'delimiter' | 'version' | 'key'>,
): RunPredicate {
  return {
    run: record.id,
    state: actualState(record),
    base_url: record.options.baseUrl,
    manifest_sha256: record.manifest.sha256,
    ...(record.approval && { plan: planOf(record.approval) }),
    rows: record.plan.rows,
    outcomes,
    started_at,
    finished_at,
    states: record.states.map(({ state, at, by }) => ({ state, at, ...(by && { by }) })),
    retries: [...retries],
    ...{ journal_bytes, delimiter, version, key },
  };
}

function planOf({
  sha256,
  signers = [],
}: NonNullable<RunRecord['approval']>): NonNullable<RunPredicate['plan']> {
  return { sha256, approvers: signers.map(({ key }) => key) };
}

/** Files in the folder of a run that say nothing of the run: locks, commands, and what later commands write. */
const otherFiles =
  /^(statement\.json|owner\.json|run\.lock|run\.holder\.json|control\.jsonl|.*\.tmp|not-undone\.csv|undo-by-hand\.csv)$/;

/** The names in the folder of a run that its statement covers, in order. */
export async function statedFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !otherFiles.test(name)).sort();
}

/**
 * Writes and signs the statement of a run that no process works on.
 *
 * @throws an error when the key of the state folder can't be used, or the disk is full
 */
export async function writeStatement(
  store: RunStore,
  record: RunRecord,
  summary: RunSummary,
  delimiter: RunPredicate['delimiter'],
): Promise<void> {
  const folder = store.folder(record.id);
  await rm(join(folder, statementFile), { force: true });
  const key = await machineKey(store.stateDir);
  const subject: Statement['subject'] = [];
  for (const name of await statedFiles(folder))
    subject.push({ name, digest: { sha256: (await hashFile(join(folder, name))).sha256 } });
  const { size } = await stat(join(folder, journalFile));
  const signed = { journal_bytes: size, delimiter, version: readVersion(), key: key.publicKey.text };
  const predicate = predicateOf(record, summary, signed);
  const envelope = await signStatement({ subject, predicateType: runPredicateType, predicate }, key);
  await writeJsonFile(join(folder, statementFile), envelope);
}

/** Fingerprint of the key that says it has signed the statement of a run; undefined without a statement. Proves nothing. */
export async function signerOf(store: RunStore, id: string): Promise<string | undefined> {
  return (await readEnvelope(store.folder(id)))?.signatures[0]?.keyid;
}
