import { basename, join } from 'node:path';
import { checkStateFolder } from '../run/state-folder.ts';
import { openRunStore, type RunStore } from '../run/store.ts';
import { type CommonFlags, stateDirOf } from './config/load.ts';
import type { Terminal } from './terminal.ts';

/** Opens the runs of the state folder that a command works in, and says what is not as it should be. */
export async function openState(terminal: Terminal, flags: CommonFlags): Promise<RunStore> {
  const stateDir = stateDirOf(flags);
  for (const warning of await checkStateFolder(stateDir)) terminal.warn(`warning: ${warning}`);
  return openRunStore(stateDir);
}

/** Where all problems of a manifest are listed: beside the runs, never beside the user's own files. */
export function problemsPath(flags: CommonFlags, manifestName: string): string {
  return join(stateDirOf(flags), 'problems', `${basename(manifestName).replaceAll(/[<>]/g, '')}.txt`);
}
