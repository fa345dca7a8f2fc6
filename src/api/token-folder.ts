import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { usageError } from '../errors.ts';
import { howToNameRateGroups, isRateGroup } from '../rate-group.ts';
import { type TokenSource, tokenFromFile } from './token.ts';

/** A folder with the token of each rate group, in a file with the name of the group. */
export type TokenFolder = ReturnType<typeof tokenFolder>;

const setting = '--token-dir or CQBATCH_TOKEN_DIR';

/** @param onIgnored called at each look for files whose names are no rate groups */
export function tokenFolder(dir: string, onIgnored: (error: Error) => void = () => {}) {
  return {
    /**
     * The groups that have a file now, each with a text that changes with its file.
     *
     * @throws CqbatchError (usage) when the folder can't be read
     */
    async groups(): Promise<ReadonlyMap<string, string>> {
      const groups = new Map<string, string>();
      for (const name of (await readdir(dir).catch(unreadable)).toSorted()) {
        // Kubernetes mounts the files of a secret through hidden folders.
        if (name.startsWith('.')) continue;
        // A file may go between the two looks.
        const found = await stat(join(dir, name)).catch(() => undefined);
        if (!found?.isFile()) continue;
        if (isRateGroup(name)) groups.set(name, `${found.ino} ${found.ctimeMs}`);
        else
          onIgnored(
            new Error(`${join(dir, name)} is ignored: its name is no rate group: ${howToNameRateGroups}`),
          );
      }
      return groups;
    },
    /** The token of a group, read like any token file. */
    token: (rateGroup: string): TokenSource => tokenFromFile(join(dir, rateGroup), setting),
  };

  function unreadable(error: NodeJS.ErrnoException): never {
    const message = `The token folder ${dir} can't be read (${error.code ?? error.message}): check ${setting}`;
    throw usageError('TOKEN_UNREADABLE', message, error);
  }
}
