import { type FileHandle, open } from 'node:fs/promises';
import type { AtEnd } from '../../releases.ts';
import { onDisk } from '../../system-error.ts';
import { stringifyJson } from '../../text/json.ts';

/** A JSON Lines manifest that is made of rows of a run: unlike CSV it holds any text exactly. */
export class RowsFile {
  /** What the rows are called in the manifest that the user gave, in order. */
  readonly rowNumbers: number[] = [];
  readonly #path: string;
  readonly #handle: FileHandle;
  #texts: string[] = [];

  static async create(path: string, atEnd: AtEnd): Promise<RowsFile> {
    const handle = await open(path, 'wx', 0o600);
    atEnd(() => handle.close());
    return new RowsFile(path, handle);
  }

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Adds a row, written by the next `flush`. @returns its number in this manifest */
  add(rowNumber: number, cells: Readonly<Record<string, unknown>>): number {
    this.#texts.push(`${stringifyJson(cells)}\n`);
    return this.rowNumbers.push(rowNumber);
  }

  async flush(): Promise<void> {
    const texts = this.#texts.splice(0);
    await onDisk(this.#path, () => this.#handle.writeFile(texts.join('')));
  }

  async seal(): Promise<void> {
    await this.flush();
    await onDisk(this.#path, () => this.#handle.sync());
  }
}
