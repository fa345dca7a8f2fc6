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
 */
export class StableFiles {
  readonly #settleMs: number;
  /** When each version was first seen, by the steady clock. */
  #firstSeen = new Map<string, number>();

  /** @param settleMs how long a file must be unchanged, milliseconds */
  constructor(settleMs: number) {
    this.#settleMs = settleMs;
  }

  /**
   * @param files all that are in the folder now
   * @param steady milliseconds of a clock that is never set
   * @param wall milliseconds since 1970, as the times of the files are
   */
  complete(files: readonly WaitingFile[], steady: number, wall: number): readonly WaitingFile[] {
    const before = this.#firstSeen;
    this.#firstSeen = new Map(
      files.map(versionOf).map((version) => [version, before.get(version) ?? steady]),
    );
    return files.filter((file) => {
      const unchangedMs = steady - (this.#firstSeen.get(versionOf(file)) ?? steady);
      return file.ctimeMs > file.mtimeMs || Math.max(wall - file.mtimeMs, unchangedMs) >= this.#settleMs;
    });
  }
}
