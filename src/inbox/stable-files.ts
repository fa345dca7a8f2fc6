/** A file of an inbox, and what tells whether it was written to since the last look. */
export interface WaitingFile {
  readonly name: string;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** Differs as soon as the file is another one or is written to. */
export function versionOf({ name, ino, size, mtimeMs, ctimeMs }: WaitingFile): string {
  return [ino, size, mtimeMs, ctimeMs, name].join('/');
}

/**
 * Tells complete files from those that a program may still be writing, by looks at a folder:
 *
 * - a file that was renamed, or got its rights or times, after the last byte was written is complete at once: that is how
 *   writers finish, and a write sets both times to the same;
 * - any other file, when it has not changed for some time.
 *
 * @param settleMs how long a file must be unchanged, milliseconds
 * @returns what tells, of all files that are in the folder now, those that are complete. `steady` is a time of a clock that is
 *   never set, `wall` one in milliseconds since 1970, as the times of the files are.
 */
export function stableFiles(settleMs: number) {
  /** When each version was first seen, by the steady clock. */
  let firstSeen = new Map<string, number>();
  return (files: readonly WaitingFile[], steady: number, wall: number): readonly WaitingFile[] => {
    const before = firstSeen;
    firstSeen = new Map(files.map(versionOf).map((version) => [version, before.get(version) ?? steady]));
    return files.filter((file) => {
      const unchangedMs = steady - (firstSeen.get(versionOf(file)) ?? steady);
      return file.ctimeMs > file.mtimeMs || Math.max(wall - file.mtimeMs, unchangedMs) >= settleMs;
    });
  };
}
