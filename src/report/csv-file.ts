import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { type CqbatchError, fatalError } from '../errors.ts';
import type { Delimiter } from '../manifest/manifest.ts';
import { circumstance } from '../system-error.ts';
import { byteOrderMark, csvText } from './csv-text.ts';

/**
 * A CSV file (RFC 4180 but with LF as line end, UTF-8 with byte order mark) that appears whole or not at all: it is
 * written beside its place and renamed by `publish`. Readable by its owner only. Its methods throw a fatal error
 * `REPORT_UNWRITABLE` when the disk refuses.
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

  /** Whether the file has been created. */
  get isBegun(): boolean {
    return this.#handle !== undefined;
  }

  /** Adds records. The first call creates the file with its header, even when there are none. */
  async write(records: readonly (readonly string[])[]): Promise<void> {
    await this.#guarded(async () => {
      if (this.#handle === undefined) {
        this.#handle = await open(this.#temporary, 'wx', 0o600);
        await this.#handle.writeFile(byteOrderMark + csvText([this.#header], this.#delimiter));
      }
      if (records.length > 0) await this.#handle.writeFile(csvText(records, this.#delimiter));
    });
  }

  /** Makes what was written survive a power failure; there will be no more of it. */
  async seal(): Promise<void> {
    await this.#guarded(async () => {
      await this.#handle?.sync();
      await this.#handle?.close();
    });
  }

  /** Puts the sealed file into its place. If nothing was ever written, an earlier file is removed from there. */
  async publish(): Promise<void> {
    await this.#guarded(async () => {
      if (this.isBegun) await rename(this.#temporary, this.path);
      else await rm(this.path, { force: true });
    });
  }

  /** Removes what was written and not published. */
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

/** The error of a file of the report that cannot be written. */
export function unwritableReport(path: string, cause: unknown): CqbatchError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return (
    circumstance(cause, path) ??
    fatalError(
      'REPORT_UNWRITABLE',
      `Cannot write ${path}: ${reason}. Mend that, or close the file in other programs, then run \`cqbatch report\`.`,
      cause,
    )
  );
}
