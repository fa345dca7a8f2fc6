import { randomUUID } from 'node:crypto';
import { appendFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder, removeIfPossible } from '../../../base/disk/files.ts';
import { removeHalfDone } from '../../../base/disk/owned-folder.ts';
import { fatalError } from '../../../base/errors/errors.ts';
import { circumstance } from '../../../base/errors/system-error.ts';
import { uniqueName } from '../../../base/text/unique-name.ts';

const partLines = 1_000;

export interface NotedManifest {
  readonly stateDir: string;
  readonly name: string;
  /** The SHA-256 of the manifest, in hexadecimal. */
  readonly sha256Of: () => Promise<string>;
}

/**
 * A file about the rows of a manifest, in a folder of the state folder. Uses constant memory. The file appears whole, under a name
 * with the digest of the manifest: manifests of the same name don't share a file.
 */
export class NoteFile {
  readonly #manifest: NotedManifest;
  readonly #folder: string;
  readonly #extension: string;
  readonly #temporary: string;
  readonly #lines: string[] = [];
  #isCreated = false;

  constructor(manifest: NotedManifest, folder: 'problems' | 'changes' | 'pages', extension: string) {
    this.#manifest = manifest;
    this.#folder = join(manifest.stateDir, folder);
    this.#extension = extension;
    this.#temporary = join(this.#folder, `${randomUUID()}.tmp`);
  }

  /** @param line with its end */
  add(line: string): Promise<void> | undefined {
    return this.#lines.push(line) < partLines ? undefined : this.#write();
  }

  /** @returns the path; undefined without lines */
  async end(): Promise<string | undefined> {
    await this.#write();
    if (!this.#isCreated) return undefined;
    const name = basename(this.#manifest.name).replaceAll(/[<>]/g, '');
    const unique = uniqueName(name, await this.#manifest.sha256Of());
    const end = `.${this.#extension}`;
    const file = join(this.#folder, unique.endsWith(end) ? unique : unique + end);
    await this.#guarded(() => rename(this.#temporary, file));
    return file;
  }

  async #write(): Promise<void> {
    if (this.#lines.length === 0) return;
    await this.#guarded(async () => {
      if (!this.#isCreated) {
        await makeFolder(this.#folder);
        await removeHalfDone(this.#folder);
      }
      const flag = this.#isCreated ? 'a' : 'ax';
      await appendFile(this.#temporary, this.#lines.splice(0).join(''), { mode: 0o600, flag });
      this.#isCreated = true;
    });
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await removeIfPossible(this.#temporary);
      throw (
        circumstance(error, this.#folder) ??
        fatalError('NOTES_UNWRITABLE', `Can't write into ${this.#folder}: ${(error as Error).message}`, error)
      );
    }
  }
}
