import { join, resolve } from 'node:path';
import { usageError } from '../../../errors.ts';
import {
  exists,
  type PublicKey,
  parsePublicKey,
  publicKeyPath,
  type RunProof,
  readSmallFile,
  verifyRun,
} from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { counted } from '../../../text/quantities.ts';
import { type Flags, loadSettings } from '../../config/load.ts';
import { openWorkplace, operationsWith } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { outcomeTexts } from '../../render/words.ts';
import { openTerminal } from '../../terminal.ts';
import { anyRun, findRecord } from './find-run.ts';

/** `cqbatch verify`: proves that a run is as its process left it, or names the first thing that is wrong. */
export async function verify(name: string | undefined, flags: Flags): Promise<ExitCode> {
  const settings = await loadSettings(flags);
  const { folder, ownKeys } = await placeOf(name, flags);
  const given = flags.key === undefined ? [] : await publicKeysIn(flags.key);
  const proof = await verifyRun({
    folder,
    keys: [...ownKeys, ...(settings.signers?.values() ?? []), ...given],
    approvers: [...(settings.approvers?.values() ?? []), ...given],
    operations: await operationsWith(settings),
  });
  openTerminal(flags).result({ folder, ...proof }, proofText(proof));
  return proof.proved ? exitCodes.success : exitCodes.rowsFailed;
}

interface Place {
  readonly folder: string;
  /** Keys that need not be named. */
  readonly ownKeys: readonly PublicKey[];
}

async function placeOf(name: string | undefined, flags: Flags): Promise<Place> {
  if (name !== undefined && (/[\\/]|^\.+$/.test(name) || (await exists(join(name, 'run.json'))))) {
    if (await exists(name)) return { folder: resolve(name), ownKeys: [] };
    throw usageError('FOLDER_NOT_FOUND', `${escapeInvisible(name)}: there is no such folder.`);
  }
  const { store } = await openWorkplace(flags);
  const { id } = await findRecord(store, name, anyRun);
  const own = publicKeyPath(store.stateDir);
  const ownKeys = (await exists(own)) ? await publicKeysIn(own) : [];
  return { folder: store.folder(id), ownKeys };
}

/** @throws a usage error `KEY_NOT_FOUND` or `KEY_UNREADABLE` */
async function publicKeysIn(path: string): Promise<readonly PublicKey[]> {
  const shown = escapeInvisible(path);
  const text = await readSmallFile(path).catch((error: Error) => {
    throw usageError('KEY_NOT_FOUND', `Can't read the public key ${shown}: ${error.message}.`, error);
  });
  try {
    return text.trim().split('\n').map(parsePublicKey);
  } catch (error) {
    throw usageError('KEY_UNREADABLE', `${shown}: ${(error as Error).message}.`, error);
  }
}

function proofText(proof: RunProof): string {
  if (!proof.proved) return `Not proved. ${proof.problem}`;
  const { run, state, rows, outcomes, signer, unchecked } = proof;
  return [
    `Run ${run} is proved: ${state}, ${counted(rows, 'row')}, ${outcomeTexts(outcomes).join(', ')}.`,
    `Its files are as the key ${signer} has signed them.`,
    ...(unchecked.length > 0 ? unchecked : ['Its report is what journal and manifest give.']),
    'No file can prove that the API did what it has answered.',
  ].join('\n');
}
