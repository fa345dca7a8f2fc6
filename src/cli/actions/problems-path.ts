import { basename, join } from 'node:path';
import { type CommonFlags, stateDirOf } from '../config/load.ts';

/** Where all problems of a manifest are listed: beside the runs, never beside the user's own files. */
export function problemsPath(flags: CommonFlags, manifestName: string): string {
  return join(stateDirOf(flags), 'problems', `${basename(manifestName).replaceAll(/[<>]/g, '')}.txt`);
}
