import {
  type GroupName,
  type Settings,
  type TokenSource,
  tokenFolder,
  versionOfFile,
} from '../../../index.ts';
import type { Log } from '../../../log.ts';
import { hasOwnToken, tokenSource } from '../api-client.ts';

/** The tokens of a worker, by the rate group that it may serve with each. */
export interface WorkerTokens {
  /** The groups that have a token now, each with a text that changes with the token. */
  groups(): Promise<ReadonlyMap<GroupName, string>>;
  /** The token of a group. Rejects when it comes from a folder and can't be read. */
  token(group: GroupName): Promise<TokenSource>;
}

/**
 * With `--rate-group`, that group only; otherwise each group of `--token-dir`, and runs without a group if a token for them is
 * configured.
 *
 * @throws a usage error `TOKEN_MISSING`
 */
export function workerTokens(settings: Settings, log: Log): WorkerTokens {
  const { tokenFile, tokenDir, rateGroup } = settings;
  if (tokenDir === undefined) {
    const source = tokenSource(settings);
    return { groups: async () => new Map([[rateGroup, '']]), token: async () => source };
  }
  const ignored = new Set<string>();
  const folder = tokenFolder(tokenDir, ({ message }) => {
    if (!ignored.has(message)) log.warn({ err: message }, 'a token file is ignored');
    ignored.add(message);
  });
  return {
    async groups() {
      const groups = await folder.groups();
      if (rateGroup !== undefined) return new Map([...groups].filter(([name]) => name === rateGroup));
      if (!hasOwnToken(settings)) return groups;
      const version = tokenFile && (await versionOfFile(tokenFile));
      return new Map<GroupName, string>([[undefined, version ?? ''], ...groups]);
    },
    async token(group) {
      const source = tokenSource(settings, { rateGroup: group });
      if (group !== undefined) await source.current();
      return source;
    },
  };
}
