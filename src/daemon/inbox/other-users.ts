import { stat } from 'node:fs/promises';
import { pinsFolders } from '../../base/disk/open-folder.ts';
import { usageError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { shellWord } from '../../base/text/command-words.ts';
import { escapeInvisible } from '../../base/text/printable.ts';

const [groupMayWrite, allMayWrite, sticky] = [0o020, 0o002, 0o1000];

interface OthersRights {
  /** Whether other users may add files. */
  readonly mayWrite: boolean;
  /** Whether other users may also remove and rename files and folders of the service. */
  readonly mayExchange: boolean;
}

/** What other users may do in a folder, by its own rights, not those of its parents. */
async function rightsOfOthers(folder: string): Promise<OthersRights> {
  const { mode, uid, gid } = await onDisk(folder, () => stat(folder));
  if (process.geteuid === undefined) return { mayWrite: false, mayExchange: false };
  // Many systems give each user a group of the same number, and let groups write.
  const isSharedGroup = gid !== uid;
  const mayWrite = (mode & (isSharedGroup ? groupMayWrite | allMayWrite : allMayWrite)) !== 0;
  return { mayWrite, mayExchange: mayWrite && (mode & sticky) === 0 };
}

/** @throws a usage error `INBOX_UNUSABLE` where other users could exchange a folder while it is used */
export async function refuseUnpinned(inbox: string, isPinning = pinsFolders): Promise<void> {
  if (isPinning || !(await rightsOfOthers(inbox)).mayWrite) return;
  throw usageError(
    'INBOX_UNUSABLE',
    `Other users may write to ${escapeInvisible(inbox)}, and could exchange its folders for links while cqbatch works in them. Only on ` +
      `Linux does cqbatch prevent that. If only you put files there, type: chmod go-w ${shellWord(inbox)}`,
  );
}

/** What other users could do to the manifests of an inbox, and the remedy; undefined if they may only add files. */
export async function exchangeWarning(inbox: string): Promise<string | undefined> {
  if (!(await rightsOfOthers(inbox)).mayExchange) return undefined;
  const folder = shellWord(inbox);
  return (
    `warning: Users who may write to ${escapeInvisible(inbox)} may also remove, rename and replace what others put there, and the folders ` +
    `with results. To let each user change only their own files, type: chown "$(id -un)" ${folder} && chmod +t ${folder}`
  );
}
