export interface WaitingFile {
  readonly name: string;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** Changes with every write or replacement of the file. */
export function versionOf({ name, ino, size, mtimeMs, ctimeMs }: WaitingFile): string {
  return [ino, size, mtimeMs, ctimeMs, name].join('/');
}

/**
 * Finds files that no program is still writing, by repeated looks at a folder. A file is complete at once if it was renamed, or its
 * permissions or times were set, after its last write: writers finish this way, and a write sets both times to the same. Any other file is
 * complete when it has not changed for some time.
 *
 * @param settleMs how long a file must be unchanged, milliseconds
 * @returns a function that returns the complete ones of a folder's files. `steady` is monotonic; `wall` is in milliseconds since 1970, like
 *   the times of files.
 */
export function stableFiles(settleMs: number) {
  /** When each version was found first (`steady`). */
  let poll = new Map<string, number>();
  return (files: readonly WaitingFile[], steady: number, wall: number): readonly WaitingFile[] => {
    const lastPoll = poll;
    poll = new Map(files.map(versionOf).map((version) => [version, lastPoll.get(version) ?? steady]));
    return files.filter((file) => {
      const unchangedMs = steady - (poll.get(versionOf(file)) ?? steady);
      return file.ctimeMs > file.mtimeMs || Math.max(wall - file.mtimeMs, unchangedMs) >= settleMs;
    });
  };
}
