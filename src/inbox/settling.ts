/** What tells whether a file was written to since it was looked at last. */
export interface FileLook {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/**
 * Tells files that are complete from those that somebody may still be writing, by looks at a folder:
 *
 * - one that was renamed, or got its rights or times, after the last byte was written is complete at once: that is how
 *   writers finish, and a write sets both times to the same;
 * - any other, when nothing of it has changed for some time.
 */
export class Settling {
  readonly #settleMs: number;
  #seen = new Map<string, FileLook & { readonly since: number }>();

  /** @param settleMs how long a file must be as it is, milliseconds */
  constructor(settleMs: number) {
    this.#settleMs = settleMs;
  }

  /**
   * @param files all that are in the folder now
   * @param steady milliseconds of a clock that is never set
   * @param wall milliseconds since 1970, as the times of the files are
   */
  settled<File extends FileLook>(files: readonly File[], steady: number, wall: number): readonly File[] {
    const before = this.#seen;
    this.#seen = new Map(
      files.map((file) => {
        const last = before.get(file.name);
        const since = last !== undefined && isUnchanged(file, last) ? last.since : steady;
        return [file.name, { ...file, since }];
      }),
    );
    return files.filter((file) => {
      if (file.ctimeMs > file.mtimeMs || wall - file.mtimeMs >= this.#settleMs) return true;
      return steady - (this.#seen.get(file.name)?.since ?? steady) >= this.#settleMs;
    });
  }
}

function isUnchanged(now: FileLook, before: FileLook): boolean {
  return now.size === before.size && now.mtimeMs === before.mtimeMs && now.ctimeMs === before.ctimeMs;
}
