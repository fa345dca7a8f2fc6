import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './temporary-folder.ts';

/** A key of OpenSSH. */
export interface SshKey {
  /** Of its private half. */
  readonly path: string;
  /** `ssh-ed25519 AAAA…` */
  readonly publicText: string;
}

/** Makes a key without a passphrase. */
export async function createSshKey(path: string): Promise<SshKey> {
  await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', path]);
  return { path, publicText: (await readFile(`${path}.pub`, 'utf8')).trim() };
}

/** Makes a key as a user does. @returns its path; the public key has `.pub` */
export async function sshKey(): Promise<string> {
  const path = join(await temporaryFolder(), 'id_ed25519');
  await createSshKey(path);
  return path;
}

/** Writes a file of approvers. @param keys paths of private keys by the names of their owners */
export async function allowedSigners(keys: Readonly<Record<string, string>>): Promise<string> {
  const lines = Object.entries(keys).map(
    async ([name, key]) => `${name} ${(await readFile(`${key}.pub`, 'utf8')).trim()}\n`,
  );
  const path = join(await temporaryFolder(), 'allowed_signers');
  await writeFile(path, (await Promise.all(lines)).join(''));
  return path;
}
