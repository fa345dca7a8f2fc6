import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { usageError } from '../errors.ts';
import { rateGroupNames } from '../names.ts';
import { type TokenSource, tokenFromFile } from './token.ts';

const setting = '--token-dir or CQBATCH_TOKEN_DIR';

/**
 * A folder with the token of each rate group, in a file with the name of the group.
 *
 * @param onIgnored called at each look for files whose names are no rate groups
 */
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
        const version = await versionOfFile(join(dir, name));
        if (version === undefined) continue;
        if (rateGroupNames.has(name)) groups.set(name, version);
        else
          onIgnored(
            new Error(`${join(dir, name)} is ignored: its name is no rate group: ${rateGroupNames.remedy}`),
          );
      }
      return groups;
    },
    /** The token of a group, read like any token file. */
    token: (rateGroup: string): TokenSource =>
      tokenFromFile(join(dir, rateGroupNames.require(rateGroup)), setting),
  };

  function unreadable(error: NodeJS.ErrnoException): never {
    const message = `The token folder ${dir} can't be read (${error.code ?? error.message}): check ${setting}`;
    throw usageError('TOKEN_UNREADABLE', message, error);
  }
}

/** A text that changes when a file is written or replaced, or its rights change; undefined without such a file. */
export async function versionOfFile(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? `${found.ino} ${found.ctimeMs}` : undefined;
}
