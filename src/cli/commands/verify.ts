import { join, resolve } from 'node:path';
import { exists } from '../../base/disk/files.ts';
import { usageError } from '../../base/errors/errors.ts';
import { counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { anyRun, findRecord } from '../../engine/run/session/find-run.ts';
import { type Verification, verifyRun } from '../../engine/run/verify/verify-run.ts';
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
  const verification = await verifyRun({ folder, against });
  openTerminal(flags).result({ folder, ...verification }, textOf(verification, against));
  return verification.agrees ? exitCodes.success : exitCodes.rowsFailed;
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

function textOf(verification: Verification, against: readonly string[]): string {
  if (!verification.agrees) return `Not as it should be. ${verification.problem}`;
  const { run, state, rows, outcomes, digests } = verification;
  const files = Object.entries(digests).map(([name, digest]) => `  sha256:${digest}  ${name}`);
  return [
    `The files of run ${run} agree: ${[state, counted(rows, 'row'), ...outcomeTexts(outcomes)].join(', ')}.`,
    'The report was made again from rows and journal, and is the same.',
    ...files,
    against.length === 0
      ? 'This does not show who wrote them. To find out whether they were changed together, pass a digest that you have from elsewhere with --against.'
      : `${counted(against.length, 'digest')} from elsewhere ${against.length === 1 ? 'fits' : 'fit'}.`,
  ].join('\n');
}
