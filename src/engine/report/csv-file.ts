import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { hashFile } from '../../base/disk/hash-file.ts';
import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import { circumstance } from '../../base/errors/system-error.ts';
import { byteOrderMark, csvText, type Delimiter } from '../../base/text/delimiter.ts';

/**
 * A UTF-8 file with a byte order mark that appears whole or not at all, readable by its owner only. Methods throw a fatal error
 * `REPORT_UNWRITABLE`.
 */
export class CsvFile {
  readonly path: string;
  readonly #temporary: string;
  readonly #header: readonly string[];
  readonly #delimiter: Delimiter;
  #handle: FileHandle | undefined;

  constructor(path: string, header: readonly string[], delimiter: Delimiter = ',') {
    this.path = path;
    this.#temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
    this.#header = header;
    this.#delimiter = delimiter;
  }

  get isCreated(): boolean {
    return this.#handle !== undefined;
  }

  /** Writes records. The first call also writes the header. */
  async write(records: readonly (readonly string[])[]): Promise<void> {
    await this.#guarded(async () => {
      if (this.#handle === undefined) {
        this.#handle = await open(this.#temporary, 'wx', 0o600);
        await this.#handle.writeFile(byteOrderMark + csvText([this.#header], this.#delimiter));
      }
      if (records.length > 0) await this.#handle.writeFile(csvText(records, this.#delimiter));
    });
  }

  async seal(): Promise<void> {
    await this.#guarded(async () => {
      await this.#handle?.sync();
      await this.#handle?.close();
    });
  }

  /** The SHA-256 of the file in hexadecimal. */
  async digest(): Promise<string> {
    return (await hashFile(this.#temporary)).sha256;
  }

  /** Renames the sealed file to its final path. If nothing was written, removes an earlier file from there. */
  async publish(): Promise<void> {
    await this.#guarded(async () => {
      if (this.isCreated) await rename(this.#temporary, this.path);
      else await rm(this.path, { force: true });
    });
  }

  async discard(): Promise<void> {
    await this.#guarded(async () => {
      if (this.#handle === undefined) return;
      await this.#handle.close();
      await rm(this.#temporary, { force: true });
    });
  }

  async #guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      throw unwritableReport(this.path, error);
    }
  }
}

export function unwritableReport(path: string, cause: unknown): CqbatchError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return (
    circumstance(cause, path) ??
    fatalError(
      'REPORT_UNWRITABLE',
      `Can't write ${path}: ${reason}. Fix the cause, or close the file in other programs. Then type "cqbatch report RUN" with the id of the run.`,
      cause,
    )
  );
}
