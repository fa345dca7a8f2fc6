import { join } from 'node:path';
import { exists, makeFolder } from '../disk/files.ts';
import { CqbatchError } from '../errors.ts';
import { createKey, readSigningKey, type SigningKey } from './key-file.ts';

/** The key in the state folder that signs what its runs did; made when it is first needed. */
export async function machineKey(stateDir: string): Promise<SigningKey> {
  const path = machineKeyPath(stateDir);
  if (await exists(path)) return readSigningKey(path, undefined);
  await makeFolder(stateDir);
  return createKey(path).catch((error: unknown) => {
    // Another process was faster.
    if (error instanceof CqbatchError && error.code === 'KEY_EXISTS') return readSigningKey(path, undefined);
    throw error;
  });
}

/** Where the public part of the key is, once it was needed. */
export function publicKeyPath(stateDir: string): string {
  return `${machineKeyPath(stateDir)}.pub`;
}

export function machineKeyPath(stateDir: string): string {
  return join(stateDir, 'key');
}
