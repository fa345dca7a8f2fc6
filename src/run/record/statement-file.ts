import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../disk/json-file.ts';
import type { SignedJournal } from '../../journal/journal-file.ts';
import { type Envelope, envelopeSchema, statementIn } from '../../signature/envelope.ts';

/** What an ended run did, signed: it holds only until a process works on the run again. */
export const statementFile = 'statement.json';

/** Undefined without a statement, or with one that can't be read. Its signature is not checked. */
export async function readEnvelope(folder: string): Promise<Envelope | undefined> {
  return readJsonFile(join(folder, statementFile), envelopeSchema, (cause) => cause as Error).catch(
    () => undefined,
  );
}

/** The journal as the statement of a run names it. */
export async function signedJournal(folder: string, journal: string): Promise<SignedJournal | undefined> {
  const envelope = await readEnvelope(folder);
  try {
    const { subject, predicate } = envelope === undefined ? {} : statementIn(envelope);
    const { data } = z.looseObject({ journal_bytes: z.number() }).safeParse(predicate);
    const sha256 = subject?.find(({ name }) => name === journal)?.digest.sha256;
    return data && sha256 ? { bytes: data.journal_bytes, sha256 } : undefined;
  } catch {
    return undefined;
  }
}
