import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { removeIfPossible } from '../../base/disk/files.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import type { ListedEntry, OperationList } from '../operation/list-definition.ts';
import type { Row } from '../operation/row-fields.ts';
import { DigestTable, digest } from '../rows/digest-table.ts';
import type { ListReader } from './list-reader.ts';

/** What the service listed of an entry: values of the operation's fields, and why the operation can't act on it. */
export type KnownEntry = Pick<ListedEntry, 'fields' | 'unfit'>;

/** The counts of a list that was read, which show how sure it is that nothing is missing. */
export type ListCounts = Pick<ListReader, 'listed' | 'repeats' | 'unreadable'>;

const portionBytes = 1 << 18;
const windowBytes = 1 << 14;

/** Places in an entry of the index. The position in the file takes two of them, because it may exceed 32 bits. */
const positionPlace = 0;
const lengthPlace = 2;

/**
 * The entries of a list as they were read once, by identifier. The entries are in a file, so that a million of them take 40 bytes of memory
 * each.
 */
export class ListedEntries {
  readonly list: OperationList;
  readonly counts: ListCounts;
  /** The time before the first page was read, ISO 8601 UTC: later changes may be missing. */
  readonly readAt: string;
  readonly #file: FileHandle;
  readonly #index: DigestTable;
  /** The part of the file that was read last, because manifests are often in the order of the list. */
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  /**
   * Reads the whole list into a new file, whose name is removed.
   *
   * @throws the errors of `ListReader.entries`, and a system error of the disk
   */
  static async read(
    list: OperationList,
    reader: Pick<ListReader, 'entries'> & ListCounts,
    path: string,
  ): Promise<ListedEntries> {
    const readAt = new Date().toISOString();
    const index = new DigestTable(lengthPlace + 1);
    const file = await onDisk(path, () => open(path, 'wx+', 0o600));
    try {
      await write(file, path, list, reader, index);
      return new ListedEntries(list, reader, readAt, file, index);
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      await removeIfPossible(path);
    }
  }

  private constructor(
    list: OperationList,
    { listed, repeats, unreadable }: ListCounts,
    readAt: string,
    file: FileHandle,
    index: DigestTable,
  ) {
    this.list = list;
    this.counts = { listed, repeats, unreadable };
    this.readAt = readAt;
    this.#file = file;
    this.#index = index;
  }

  /** What the list has of an entry. @param id the value of the operation's subject */
  find(id: string): KnownEntry | undefined {
    const entry = this.#index.find(digest(id));
    if (entry < 0) return undefined;
    return decode(
      this.#bytes(this.#index.getLarge(entry, positionPlace), this.#index.get(entry, lengthPlace)),
      this.list,
    );
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #bytes(start: number, size: number): string {
    const isInWindow = start >= this.#windowStart && start + size <= this.#windowStart + this.#window.length;
    if (!isInWindow) {
      const window = Buffer.allocUnsafe(Math.max(windowBytes, size));
      this.#window = window.subarray(0, readSync(this.#file.fd, window, 0, window.length, start));
      this.#windowStart = start;
    }
    const offset = start - this.#windowStart;
    return this.#window.toString('utf8', offset, offset + size);
  }
}

async function write(
  handle: FileHandle,
  path: string,
  list: OperationList,
  reader: Pick<ListReader, 'entries'>,
  index: DigestTable,
): Promise<void> {
  let parts: string[] = [];
  let pending = 0;
  let written = 0;
  const flush = async (): Promise<void> => {
    const text = parts.join('');
    parts = [];
    pending = 0;
    await onDisk(path, () => handle.writeFile(text));
  };
  for await (const entries of reader.entries()) {
    for (const entry of entries) {
      const text = encode(entry, list);
      const bytes = Buffer.byteLength(text);
      const place = index.enter(digest(entry.id));
      index.setLarge(place, positionPlace, written);
      index.set(place, lengthPlace, bytes);
      written += bytes;
      pending += bytes;
      parts.push(text);
    }
    if (pending >= portionBytes) await flush();
  }
  await flush();
}

/** An entry as JSON: the texts in the order of the list's fields, and the reason why the operation can't act on the entry, if any. */
function encode({ fields, unfit }: KnownEntry, { fields: names }: OperationList): string {
  const texts = names.map((name) => fields[name] ?? null);
  return JSON.stringify(unfit === undefined ? texts : [...texts, unfit]);
}

function decode(text: string, { fields: names }: OperationList): KnownEntry {
  const texts: readonly (string | null)[] = JSON.parse(text);
  const fields: Record<string, string> = {};
  for (const [place, name] of names.entries()) {
    const value = texts[place] ?? null;
    if (value !== null) fields[name] = value;
  }
  const unfit = texts[names.length] ?? undefined;
  return { fields: fields satisfies Row, ...(unfit !== undefined && { unfit }) };
}
