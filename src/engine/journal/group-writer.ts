import type { CqbatchError } from '../../base/errors/errors.ts';
import type { RowResult } from '../../domain/row-result.ts';
import { encodeEntry, type JournalEntry, lineEnd } from './line.ts';
import type { JournalState } from './state.ts';

export interface Disk {
  /** Makes the bytes survive a power failure. */
  persist(bytes: Buffer, position: number): Promise<void>;
  failure(cause: unknown): CqbatchError;
}

interface PendingAppend {
  readonly entries: readonly JournalEntry[];
  /** Results of rows that had none. */
  readonly added: RowResult[];
  readonly resolve: (added: readonly RowResult[]) => void;
  readonly reject: (error: Error) => void;
}

interface PlacedEntry {
  readonly entry: JournalEntry;
  readonly offset: number;
}

/**
 * Entries that are appended while one group is being written form the next group, so syncs do not grow with appends.
 *
 * The state changes only after the sync. After a failed write, every append fails, because the content of the file after its last synced
 * line is unknown until it is replayed.
 */
export class GroupWriter {
  readonly #state: JournalState;
  readonly #disk: Disk;
  #end: number;
  #waiting: PendingAppend[] = [];
  #writing: Promise<void> | undefined;
  #failure: CqbatchError | undefined;

  /** @param end size of the file, which ends with a line end */
  constructor(state: JournalState, disk: Disk, end: number) {
    this.#state = state;
    this.#disk = disk;
    this.#end = end;
  }

  get end(): number {
    return this.#end;
  }

  /** Appends entries. Resolves with the new results when the entries are synced. The first result of each row counts. */
  append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, added: [], resolve, reject });
      this.#writing ??= this.#writeGroups();
    });
  }

  async idle(): Promise<void> {
    await this.#writing;
  }

  async #writeGroups(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#writeGroup(group);
    }
    this.#writing = undefined;
  }

  async #writeGroup(group: readonly PendingAppend[]): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const { bytes, placed } = this.#layOut(group);
      if (bytes.length > 0) await this.#disk.persist(bytes, this.#end);
      this.#end += bytes.length;
      for (const { entry, offset } of placed) this.#state.apply(entry, offset);
      for (const { added, resolve } of group) resolve(added);
    } catch (error) {
      this.#failure ??= this.#disk.failure(error);
      for (const { reject } of group) reject(this.#failure);
    }
  }

  #layOut(group: readonly PendingAppend[]): {
    readonly bytes: Buffer;
    readonly placed: readonly PlacedEntry[];
  } {
    const kept: JournalEntry[] = [];
    const rows = new Set<number>();
    let text = '';
    for (const { entries, added } of group) {
      for (const entry of entries) {
        if (this.#isSuperseded(entry, rows)) continue;
        if (entry.type === 'row') {
          rows.add(entry.result.row);
          added.push(entry.result);
        }
        kept.push(entry);
        text += encodeEntry(entry);
      }
    }
    const bytes = Buffer.from(text);
    let offset = 0;
    const placed = kept.map((entry) => {
      const line = { entry, offset: this.#end + offset };
      offset = bytes.indexOf(lineEnd, offset) + 1;
      return line;
    });
    return { bytes, placed };
  }

  /** Whether the row has a result already, in the journal or earlier in this group. */
  #isSuperseded(entry: JournalEntry, rows: ReadonlySet<number>): boolean {
    if (entry.type !== 'row' && entry.type !== 'open') return false;
    const row = entry.type === 'row' ? entry.result.row : entry.row;
    return this.#state.isFinished(row) || rows.has(row);
  }
}
