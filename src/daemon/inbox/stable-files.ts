export interface WaitingFile {
  readonly name: string;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** When content, name, permissions or links last changed, which a program can't set. */
  readonly ctimeMs: number;
  /** When the file was born. At most 0 if the disk does not keep it. */
  readonly birthtimeMs: number;
}

/** A text that changes with every write or replacement of the file. */
export function versionOf({ name, ino, size, mtimeMs, ctimeMs }: WaitingFile): string {
  return [ino, size, mtimeMs, ctimeMs, name].join('/');
}

/** An empty file waits this many times as long: over a slow network, programs make a file long before they fill it. */
const emptyWaits = 10;

interface Sighting {
  readonly file: WaitingFile;
  /** When a look found this version first, in steady milliseconds. */
  readonly since: number;
  readonly isRenamed: boolean;
}

/**
 * Finds files that no program is still writing, by repeated looks at a folder. A file is complete when it has not changed for some time, or
 * at once when these looks saw it before under a name that is not a manifest's (`NAME.part`): a writer renames what it has completed.
 * No other change says so: permissions, times, attributes and links are also changed while a file is written.
 *
 * @param settleMs how long a file must be unchanged, milliseconds; ten times as long if it is empty
 * @param isManifest whether files of this name are taken
 * @returns a function that gets all files of the folder and returns the complete manifests. `steady` is monotonic; `disk` is in milliseconds
 *   since 1970, by the clock that gives files their times.
 */
export function stableFiles(settleMs: number, isManifest: (name: string) => boolean) {
  let sightings: ReadonlyMap<string, Sighting> = new Map();
  return (files: readonly WaitingFile[], steady: number, disk: number): readonly WaitingFile[] => {
    const formerNames = unfinishedNames(sightings, files, isManifest);
    const sight = (file: WaitingFile): Sighting => {
      const before = sightings.get(file.name);
      if (before !== undefined && versionOf(before.file) === versionOf(file)) return before;
      return { file, since: steady, isRenamed: formerNames.has(identityOf(file)) };
    };
    sightings = new Map(files.map((file) => [file.name, sight(file)]));
    return files.filter((file) => {
      const { since = steady, isRenamed = false } = sightings.get(file.name) ?? {};
      if (!isManifest(file.name)) return false;
      if (isRenamed && file.size > 0) return true;
      const unchangedMs = Math.max(steady - since, disk - Math.max(file.mtimeMs, file.ctimeMs));
      return unchangedMs >= settleMs * (file.size === 0 ? emptyWaits : 1);
    });
  };
}

/** Files that had the name of an unfinished file at the last look, and have it no longer; with it, another name is a hard link. */
function unfinishedNames(
  sightings: ReadonlyMap<string, Sighting>,
  files: readonly WaitingFile[],
  isManifest: (name: string) => boolean,
): ReadonlySet<string> {
  const names = new Set(files.map(({ name }) => name));
  const gone = [...sightings.values()].filter(({ file }) => !names.has(file.name) && !isManifest(file.name));
  return new Set(gone.filter(({ file }) => file.birthtimeMs > 0).map(({ file }) => identityOf(file)));
}

/** A new file may get the inode of a deleted one, but not its time of birth. */
function identityOf({ ino, birthtimeMs }: WaitingFile): string {
  return `${ino}/${birthtimeMs}`;
}
