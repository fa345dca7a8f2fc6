import { randomUUID } from 'node:crypto';
import { lstat, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { steadyNow } from '../../base/async/clock.ts';
import { ifThere } from '../../base/disk/files.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { contentOf, type FileContent } from './files.ts';
import type { InboxPlace } from './names.ts';
import { stableFiles, versionOf, type WaitingFile } from './stable-files.ts';

export interface WaitingOptions {
  /** The time without a change before a file is taken, in milliseconds. Default: 0. */
  readonly settleMs?: number;
  /** The largest size of a manifest: a larger one is refused before it is read. Default: any. */
  readonly mostBytes?: number;
}

/** The files of an inbox that were not taken. */
export class WaitingFiles {
  readonly folder: string;
  readonly #place: InboxPlace;
  readonly #completeOf: ReturnType<typeof stableFiles>;
  readonly #mostBytes: number;
  #contents = new Map<string, FileContent>();
  #clockLeadMs: number | undefined;

  constructor(place: InboxPlace, { settleMs = 0, mostBytes = Number.POSITIVE_INFINITY }: WaitingOptions) {
    this.folder = place.folder;
    this.#place = place;
    this.#mostBytes = mostBytes;
    this.#completeOf = stableFiles(settleMs, place.matches);
  }

  /** The waiting manifests, oldest first, and whether each is complete. */
  async readFolder(): Promise<readonly { readonly file: WaitingFile; readonly isComplete: boolean }[]> {
    this.#clockLeadMs ??= await clockLead(this.folder);
    const names = await onDisk(this.folder, () => readdir(this.folder, { encoding: 'buffer' }));
    const found = await Promise.all(names.map((name) => waitingFileAt(this.folder, name)));
    const all = found.filter((file) => file !== undefined);
    const complete = new Set(this.#completeOf(all, steadyNow(), Date.now() + this.#clockLeadMs));
    const files = all.filter(({ name }) => this.#place.matches(name));
    const versions = new Set(files.map(versionOf));
    this.#contents = new Map([...this.#contents].filter(([version]) => versions.has(version)));
    return files
      .toSorted((a, b) => a.mtimeMs - b.mtimeMs || (a.name < b.name ? -1 : 1))
      .map((file) => ({ file, isComplete: complete.has(file) }));
  }

  /** Takes a file. Undefined if the file no longer exists, or has changed since the look. */
  async contentOf(file: WaitingFile): Promise<FileContent> {
    const version = versionOf(file);
    const now = await waitingFileAt(this.folder, Buffer.from(file.name));
    if (now === undefined || versionOf(now) !== version) return undefined;
    const known = this.#contents.get(version);
    if (known !== undefined) return known;
    const path = join(this.folder, file.name);
    const content = await contentOf({ openPath: path, path }, this.#mostBytes);
    if (content !== undefined) this.#contents.set(version, content);
    return content;
  }

  async ignoredFiles(): Promise<readonly { readonly name: string; readonly why: string }[]> {
    const entries = await onDisk(this.folder, () => readdir(this.folder, { withFileTypes: true }));
    return entries.flatMap((entry) => {
      const { name } = entry;
      if (entry.isFile()) {
        const why = this.#place.whyIgnored(name);
        return why === undefined ? [] : [{ name, why }];
      }
      if (entry.isDirectory() || !this.#place.matches(name)) return [];
      const kind = entry.isSymbolicLink() ? 'symbolic link' : entry.isFIFO() ? 'pipe' : 'socket or device';
      return [{ name, why: `it is a ${kind}` }];
    });
  }
}

/** What a look found of a path. Undefined for anything but a regular file: a symbolic link can't be taken. */
async function waitingFileAt(folder: string, name: Buffer): Promise<WaitingFile | undefined> {
  // Names need not be valid text.
  const found = await ifThere(lstat(Buffer.concat([Buffer.from(join(folder, '/')), name])));
  if (found === undefined || !found.isFile()) return undefined;
  const { size, mtimeMs, ctimeMs, birthtimeMs, ino } = found;
  return { name: name.toString(), size, mtimeMs, ctimeMs, birthtimeMs, ino };
}

/** How far the clock of a folder's disk is ahead of ours, in milliseconds: a file server has its own. */
async function clockLead(folder: string): Promise<number> {
  const path = join(folder, `.${randomUUID()}.tmp`);
  return onDisk(folder, async () => {
    const before = Date.now();
    try {
      await writeFile(path, '', { flag: 'wx', mode: 0o600 });
      return (await stat(path)).mtimeMs - (before + Date.now()) / 2;
    } finally {
      await rm(path, { force: true });
    }
  });
}
