import { join, resolve } from 'node:path';
import { exists } from '../../base/disk/files.ts';
import { usageError } from '../../base/errors/errors.ts';
import { counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { type RunProof, verifyRun } from '../../engine/run/proof/verify-run.ts';
import { anyRun, findRecord } from '../../engine/run/session/find-run.ts';
import type { Flags } from '../config.ts';
import { openCommandContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { outcomeTexts } from '../render/words.ts';
import { openTerminal } from '../terminal.ts';
import { digestIn } from './options.ts';

/** Names only the first fault. */
export async function verify(name: string | undefined, flags: Flags): Promise<ExitCode> {
  const against = (flags.against ?? []).map((text) => digestIn('--against', text));
  const folder = await folderOf(name, flags);
  const proof = await verifyRun({ folder, against });
  openTerminal(flags).result({ folder, ...proof }, proofText(proof, against));
  return proof.proved ? exitCodes.success : exitCodes.rowsFailed;
}

async function folderOf(name: string | undefined, flags: Flags): Promise<string> {
  if (name !== undefined && (/[\\/]|^\.+$/.test(name) || (await exists(join(name, 'run.json'))))) {
    if (await exists(name)) return resolve(name);
    throw usageError('FOLDER_NOT_FOUND', `${escapeInvisible(name)}: there is no such folder.`);
  }
  const { store } = await openCommandContext(flags);
  const { id } = await findRecord(store, name, anyRun);
  return store.folder(id);
}

function proofText(proof: RunProof, against: readonly string[]): string {
  if (!proof.proved) return `Not as it should be. ${proof.problem}`;
  const { run, state, rows, outcomes, digests, compared, unchecked } = proof;
  const files = Object.entries(digests).map(([name, digest]) => `  sha256:${digest}  ${name}`);
  return [
    `The files of run ${run} agree: ${[state, counted(rows, 'row'), ...outcomeTexts(outcomes)].join(', ')}.`,
    ...(compared ? ['Its report was made again from its rows and its journal, and is the same.'] : []),
    ...files,
    ...unchecked,
    against.length === 0
      ? 'To find out whether all of them were changed together, pass a digest that you have from elsewhere with --against.'
      : `${counted(against.length, 'digest')} from elsewhere ${against.length === 1 ? 'fits' : 'fit'}.`,
  ].join('\n');
}
