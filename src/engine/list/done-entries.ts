import type { DoneList, OperationList } from '../operation/list-definition.ts';
import { DigestTable, digest } from '../rows/digest-table.ts';
import { EntryReader, type SeenEntry } from './entry-reader.ts';
import { ListReader, type ListReaderOptions } from './list-reader.ts';

export interface DoneEntriesOptions extends ListReaderOptions {
  /** Called before the list is read, and before entries are read one by one. The returned function is called afterwards. */
  readonly onReading: (list: OperationList, reader: ListReader | EntryReader) => () => unknown;
}

/**
 * Looks for entries on which an operation has acted: in their list, as long as a page of it may save more calls than it costs, then one by
 * one.
 */
export class DoneEntries {
  readonly #done: DoneList;
  readonly #options: DoneEntriesOptions;
  readonly #reader: ListReader;
  readonly #entryReader: EntryReader;
  /** The entries to look for, by identifier: 1 for an entry that the list has. */
  readonly #sought = new DigestTable(1);
  /** The number of sought entries that were not found yet. */
  #missingEntries = 0;
  #onEntriesRead: (() => unknown) | undefined;

  constructor(done: DoneList, options: DoneEntriesOptions) {
    this.#done = done;
    this.#options = options;
    this.#reader = new ListReader(done.list, options);
    this.#entryReader = new EntryReader(done, options);
  }

  seek(id: string): void {
    const key = digest(id);
    if (this.#sought.find(key) >= 0) return;
    this.#sought.enter(key);
    this.#missingEntries++;
  }

  /**
   * Reads pages of the list while fewer were read than entries are missing: reading those one by one takes a call for each. Call this after
   * `seek`.
   *
   * @throws the errors of `ListReader.entries`
   */
  async readList(): Promise<void> {
    const reader = this.#reader;
    const onRead = this.#options.onReading(this.#done.list, reader);
    try {
      for await (const part of reader.entries(() => reader.pages < this.#missingEntries))
        for (const { id } of part) this.#found(id);
    } finally {
      await onRead();
    }
  }

  /**
   * @param id was sought
   * @throws the errors of `EntryReader.readEntry`
   */
  async readEntry(id: string): Promise<SeenEntry> {
    const entry = this.#sought.find(digest(id));
    if (entry >= 0 && this.#sought.get(entry, 0) === 1) return { is: 'done' };
    if (this.#reader.isWhole && this.#reader.repeats === 0) return { is: 'gone' };
    this.#onEntriesRead ??= this.#options.onReading(this.#done.list, this.#entryReader);
    return this.#entryReader.readEntry(id);
  }

  async close(): Promise<void> {
    await this.#onEntriesRead?.();
  }

  #found(id: string): void {
    const entry = this.#sought.find(digest(id));
    if (entry < 0) return;
    this.#sought.set(entry, 0, 1);
    this.#missingEntries--;
  }
}
