import type { RowResult } from '../domain.ts';
import type { CqbatchError } from '../errors.ts';
import { encodeEntry, type JournalEntry } from './line.ts';
import type { JournalState } from './state.ts';

/** Where a writer's bytes go. */
export interface Disk {
  /** Writes all bytes at that position and makes them survive a power failure. */
  persist(bytes: Buffer, position: number): Promise<void>;
  /** The error of an append that `persist` failed. */
  failure(cause: unknown): CqbatchError;
}

interface Append {
  readonly entries: readonly JournalEntry[];
  /** The results among them that are new. */
  readonly added: RowResult[];
  readonly resolve: (added: readonly RowResult[]) => void;
  readonly reject: (error: Error) => void;
}

interface PlacedEntry {
  readonly entry: JournalEntry;
  readonly offset: number;
}

/**
 * Appends entries to a journal in groups: while one group is being written and synced, what is appended gathers and
 * then goes out together, so that the number of syncs does not grow with the number of appends.
 *
 * The state changes only after the sync. When a write fails, the state stays as it was and every later append fails
 * too, because what the file holds after its last synced line is then unknown until it is replayed.
 */
export class GroupWriter {
  readonly #state: JournalState;
  readonly #disk: Disk;
  #end: number;
  #waiting: Append[] = [];
  #writing: Promise<void> | undefined;
  #failure: CqbatchError | undefined;

  /** `end` is the file's size in bytes: a line end is the last of them. */
  constructor(state: JournalState, disk: Disk, end: number) {
    this.#state = state;
    this.#disk = disk;
    this.#end = end;
  }

  /** End of the last synced line, in bytes. */
  get end(): number {
    return this.#end;
  }

  /** Resolves when the entries are safe, with the results that were new: of every row, the first one counts. */
  append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, added: [], resolve, reject });
      this.#writing ??= this.#writeGroups();
    });
  }

  /** Resolves when nothing is being written any more. */
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

  async #writeGroup(group: readonly Append[]): Promise<void> {
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

  /** The group's bytes and the entries in them; enters the new results of each append. */
  #layOut(group: readonly Append[]): { readonly bytes: Buffer; readonly placed: readonly PlacedEntry[] } {
    const placed: PlacedEntry[] = [];
    const rows = new Set<number>();
    let offset = this.#end;
    let text = '';
    for (const { entries, added } of group) {
      for (const entry of entries) {
        if (this.#isSuperseded(entry, rows)) continue;
        if (entry.type === 'row') {
          rows.add(entry.result.row);
          added.push(entry.result);
        }
        const line = encodeEntry(entry);
        placed.push({ entry, offset });
        offset += Buffer.byteLength(line);
        text += line;
      }
    }
    return { bytes: Buffer.from(text), placed };
  }

  /** Whether a result that is known, or comes earlier in the same group, makes the entry pointless. */
  #isSuperseded(entry: JournalEntry, rows: ReadonlySet<number>): boolean {
    if (entry.type !== 'row' && entry.type !== 'open') return false;
    const row = entry.type === 'row' ? entry.result.row : entry.row;
    return this.#state.isFinished(row) || rows.has(row);
  }
}
