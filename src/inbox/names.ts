import { basename, dirname, extname } from 'node:path';
import picomatch from 'picomatch';
import { exists } from '../disk/files.ts';
import { usageError } from '../errors.ts';
import { isFolderAt } from './files.ts';

/** What a manifest can be called, as far as one that is put into a folder without a pattern is taken for one. */
const manifestNames = '*.{csv,tsv,txt,json,jsonl,ndjson,xlsx}{,.gz}';

/** Names under which programs write what they rename when it is complete, and lock files of Excel. */
const unfinishedNames = ['*.part', '*.partial', '*.tmp', '*.crdownload', '*.filepart', '~$*'];

/** Which files of which folder are manifests. */
export interface InboxPlace {
  readonly folder: string;
  /** Whether a file of that name is one. Hidden ones never are, nor those that are being written. */
  readonly matches: (name: string) => boolean;
  /** Why a file of that name stays where it is, if the user may expect otherwise. */
  readonly whyIgnored: (name: string) => string | undefined;
}

/**
 * A folder, or a pattern of names in it: `inbox/*.csv`.
 *
 * @throws a usage error `INBOX_UNUSABLE` when there is no such folder.
 */
export async function findInbox(path: string): Promise<InboxPlace> {
  const isFolder = await isFolderAt(path);
  const place = inboxPlace(path, isFolder);
  // A name that is neither there nor a pattern means a folder that is missing or misspelt.
  const isPlace = isFolder || ((isPattern(path) || (await exists(path))) && (await isFolderAt(place.folder)));
  if (isPlace) return place;
  throw usageError(
    'INBOX_UNUSABLE',
    `The folder ${isPattern(path) ? place.folder : path} doesn't exist: create it first, or quote a pattern: 'inbox/*.csv'.`,
  );
}

/** @param isFolder whether there is a folder of that path */
export function inboxPlace(path: string, isFolder: boolean): InboxPlace {
  const pattern = isFolder ? manifestNames : basename(path);
  const isMatch = picomatch(pattern, { nocase: isFolder });
  const isUnfinished = picomatch(unfinishedNames, { nocase: true });
  const isVisible = (name: string): boolean => !name.startsWith('.') && !isUnfinished(name);
  return {
    folder: isFolder ? path : dirname(path),
    matches: (name) => isVisible(name) && isMatch(name),
    whyIgnored: (name) =>
      isFolder && isVisible(name) && !isMatch(name) ? `manifests are called ${manifestNames}` : undefined,
  };
}

/** Whether a path says by its signs that it means several files. */
function isPattern(path: string): boolean {
  return picomatch.scan(basename(path)).isGlob;
}

/** Bytes. Systems allow 255, and the longest name of what is put beside a manifest has `.not-attempted.csv` behind its own. */
const longestName = 230;

/** A name that no other content has: of `week 47.csv.gz` it is `week 47.3f2a1b9c.csv.gz`. One that is too long loses letters. */
export function uniqueName(name: string, sha256: string): string {
  const suffix = extname(name);
  const suffixes = suffix === '.gz' ? extname(name.slice(0, -suffix.length)) + suffix : suffix;
  const end = `.${sha256.slice(0, 8)}${suffixes}`;
  const stem = Buffer.from(name.slice(0, name.length - suffixes.length));
  const most = Math.max(0, longestName - Buffer.byteLength(end));
  // Not half of a letter.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(stem.subarray(0, most), { stream: true }) + end;
}
