import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type CqbatchError, usageError } from '../../base/errors/errors.ts';
import { shellWord } from '../../base/text/shell-word.ts';

const othersMayWrite = 0o022;

/**
 * Refuses a state folder of another user, and a configuration file that another user owns or may change. Like git's
 * `safe.directory`, it trusts root, who can do anything anyway, and for sudo the user who typed it.
 *
 * @param sudoUid the variable SUDO_UID
 * @throws a usage error `STATE_DIR_UNTRUSTED`
 */
export async function requireOwn(stateDir: string, configFile: string, sudoUid?: string): Promise<void> {
  const user = process.geteuid?.();
  // Windows has no such owners.
  if (user === undefined) return;
  const trusted = [0, user, ...(user === 0 ? [Number(sudoUid)] : [])];
  const path = join(stateDir, configFile);
  const [folder, config] = [await look(stateDir), await look(path)];
  for (const [name, found] of Object.entries({ [stateDir]: folder, [path]: config }))
    if (found !== undefined && !trusted.includes(found.uid))
      throw untrusted(stateDir, `${name} belongs to another user (uid ${found.uid})`);
  if (folder !== undefined && config !== undefined && ((folder.mode | config.mode) & othersMayWrite) !== 0) {
    const remedy = `Type "chmod go-w ${shellWord(stateDir)} ${shellWord(path)}" after a look at it.`;
    throw untrusted(stateDir, `${path} may be changed by other users`, remedy);
  }
}

function look(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** @param remedy a sentence */
function untrusted(stateDir: string, what: string, remedy?: string): CqbatchError {
  const sentences = [
    `${what}, and the folder decides where your access token is sent.`,
    remedy,
    `If you trust the folder as it is, name it: --state-dir ${shellWord(stateDir)}.`,
  ];
  return usageError('STATE_DIR_UNTRUSTED', sentences.filter(Boolean).join(' '));
}
