import { join, resolve } from 'node:path';
import { exists } from '../../base/disk/files.ts';
import { usageError } from '../../base/errors/errors.ts';
import { counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { type Verification, verifyRun } from '../../engine/run/verify/verify-run.ts';
import { anyRun, findRecord } from '../../engine/run/work/find-run.ts';
import type { Flags } from '../config.ts';
import { openCommandContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { styled } from '../render/style.ts';
import { outcomeTexts, styledState } from '../render/words.ts';
import { openTerminal } from '../terminal.ts';
import { digestIn } from './options.ts';

/** Verifies a run's report. Only the first fault is named. */
export async function verify(name: string | undefined, flags: Flags): Promise<ExitCode> {
  const against = (flags.against ?? []).map((text) => digestIn('--against', text));
  const folder = await folderOf(name, flags);
  const verification = await verifyRun({ folder, against });
  const terminal = openTerminal(flags);
  terminal.result({ folder, ...verification }, textOf(verification, against, terminal.columns));
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

function textOf(
  verification: Verification,
  against: readonly string[],
  columns = Number.POSITIVE_INFINITY,
): string {
  if (!verification.agrees) return `${styled('red', 'Not as it should be.')} ${verification.problem}`;
  const { run, state, rows, outcomes, digests } = verification;
  return [
    `The files of run ${run} ${styled('green', 'agree')}: ${[styledState(state), counted(rows, 'row'), ...outcomeTexts(outcomes)].join(', ')}.`,
    'The report was made again from rows and journal, and is the same.',
    ...digestLines(digests, columns),
    against.length === 0
      ? 'This does not show who wrote them. To find out whether they were changed together, pass a digest that you have from elsewhere with --against.'
      : `${counted(against.length, 'digest')} from elsewhere ${against.length === 1 ? 'fits' : 'fit'}.`,
  ].join('\n');
}

/** Digests with their names. A digest stays whole, so that it can be copied: on a narrow screen it stands below its name. */
function digestLines(digests: Readonly<Record<string, string>>, columns: number): readonly string[] {
  const besides = Object.entries(digests).map(([name, digest]) => `  sha256:${digest}  ${name}`);
  if (besides.every((line) => line.length <= columns)) return besides;
  return Object.entries(digests).flatMap(([name, digest]) => [`  ${name}`, `    sha256:${digest}`]);
}
