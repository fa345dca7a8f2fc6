import { basename, dirname } from 'node:path';
import picomatch from 'picomatch';
import { exists } from '../../base/disk/files.ts';
import { usageError } from '../../base/errors/errors.ts';
import { composed } from '../../base/text/composed.ts';
import { manifestNames } from '../../engine/manifest/formats.ts';
import { isFolderAt } from './files.ts';

/** Names of files that programs rename when complete, and of Excel's lock files. */
const unfinishedNames = ['*.part', '*.partial', '*.tmp', '*.crdownload', '*.filepart', '~$*'];

export interface InboxPlace {
  readonly folder: string;
  /** Whether a name is that of a manifest. Never true for hidden and incomplete files. */
  readonly matches: (name: string) => boolean;
  /** Why a file is not taken. Undefined if the user does not expect that the file is taken. */
  readonly whyIgnored: (name: string) => string | undefined;
}

/**
 * @param path a folder, or a folder with a pattern of names (`inbox/*.csv`)
 * @throws a usage error `INBOX_UNUSABLE` when the folder does not exist
 */
export async function findInbox(path: string): Promise<InboxPlace> {
  const isFolder = await isFolderAt(path);
  const place = inboxPlace(path, isFolder);
  // A missing path without a pattern is a missing or misspelt folder.
  const isPlace = isFolder || ((isPattern(path) || (await exists(path))) && (await isFolderAt(place.folder)));
  if (isPlace) return place;
  throw usageError(
    'INBOX_UNUSABLE',
    `The folder ${isPattern(path) ? place.folder : path} doesn't exist: create it first, or quote a pattern: 'inbox/*.csv'.`,
  );
}

export function inboxPlace(path: string, isFolder: boolean): InboxPlace {
  const pattern = isFolder ? manifestNames : basename(path);
  const isMatch = picomatch(composed(pattern), { nocase: isFolder });
  const isUnfinished = picomatch(unfinishedNames, { nocase: true });
  const isVisible = (name: string): boolean => !name.startsWith('.') && !isUnfinished(name);
  return {
    folder: isFolder ? path : dirname(path),
    matches: (name) => isVisible(name) && isMatch(composed(name)),
    whyIgnored: (name) =>
      isFolder && isVisible(name) && !isMatch(composed(name))
        ? `manifests are called ${manifestNames}`
        : undefined,
  };
}

function isPattern(path: string): boolean {
  return picomatch.scan(basename(path)).isGlob;
}
