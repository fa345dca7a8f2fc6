import type { RowResult } from '../../src/domain/row-result.ts';
import { unwritableJournal } from '../../src/engine/journal/failure.ts';
import { type Disk, GroupWriter } from '../../src/engine/journal/group-writer.ts';
import type { Journal } from '../../src/engine/journal/journal.ts';
import { decodeEntry, encodeHeader, type JournalEntry } from '../../src/engine/journal/line.ts';
import { JournalState } from '../../src/engine/journal/state.ts';
import type { SimulatedProcess, World } from './world.ts';

interface PlacedEntry {
  readonly entry: JournalEntry;
  readonly offset: number;
}

/** A file as a disk keeps it: the written bytes, and how many of them a power cut leaves. */
export class SimulatedFile {
  text: string;
  synced: number;
  /** No further byte fits. */
  isFull = false;
  /** Until then the disk executes no request. */
  slowUntil = 0;
  /** How often a power failure took lines that were synced. */
  cuts = 0;
  /** Writes before which something happens, by their number. */
  readonly fates = new Map<number, () => void>();
  #writes = 0;

  readonly #header: number;

  constructor(text: string) {
    this.#header = text.length;
    this.text = text;
    this.synced = text.length;
  }

  /** A process starts to write. */
  begin(): void {
    this.#writes += 1;
    this.fates.get(this.#writes)?.();
  }

  /**
   * Bytes that were not synced remain or are lost, up to a random position.
   *
   * @param lost how many bytes the disk had only pretended to sync, since the datastore was last emptied on purpose
   */
  losePower(world: World, lost: number): void {
    const settled = this.text.lastIndexOf('"settled":true', this.synced);
    const safe = Math.max(
      this.#header,
      Math.min(this.synced, this.text.indexOf('\n', settled) + 1),
      this.synced - lost,
    );
    if (safe < this.synced) this.cuts += 1;
    this.text = this.text.slice(0, lost > 0 ? safe : world.random.whole(safe, this.text.length));
    this.synced = this.text.length;
  }

  /** The entries of whole lines, with their places. */
  entries(): PlacedEntry[] {
    return this.#read(0, this.text.lastIndexOf('\n') + 1);
  }

  /** Where the synced whole lines end: a power cut may leave half a line after them. */
  get syncedLines(): number {
    return this.text.lastIndexOf('\n', this.synced - 1) + 1;
  }

  /** The entries of these lines, from an offset. */
  entriesFrom(offset: number): PlacedEntry[] {
    return this.#read(offset, this.syncedLines);
  }

  #read(first: number, end: number): PlacedEntry[] {
    const found: PlacedEntry[] = [];
    for (let offset = first; offset < end; ) {
      const next = this.text.indexOf('\n', offset) + 1;
      const line = this.text.slice(offset, next - 1);
      const entry = offset === 0 ? undefined : decodeEntry(line);
      if (offset > 0 && entry === undefined) throw new TypeError(`The journal has an invalid line: ${line}`);
      if (entry !== undefined) found.push({ entry, offset });
      offset = next;
    }
    return found;
  }
}

/** A new journal, with its header. */
export function newJournalFile(runId: string): SimulatedFile {
  return new SimulatedFile(encodeHeader(runId));
}

/** How long a disk takes. */
export interface DiskFaults {
  readonly syncMs: number;
  /** How often it takes up to 30 s. */
  readonly stall: number;
}

/** Opens a journal in a process: the program's own state and writer, on the simulated disk. */
export function openSimulatedJournal(
  world: World,
  process: SimulatedProcess,
  file: SimulatedFile,
  faults: DiskFaults,
): Journal {
  file.text = file.text.slice(0, file.text.lastIndexOf('\n') + 1);
  file.synced = Math.min(file.synced, file.text.length);
  const journal = new SimulatedJournal(file);
  for (const { entry, offset } of file.entries()) journal.apply(entry, offset);
  /** One request to the system: its answer waits while the process is frozen, and so does the next request. */
  const ask = (work: () => void): Promise<void> =>
    new Promise((resolve, reject) => {
      process.step(() => {
        const stalls = world.random.chance(faults.stall);
        const usualMs = stalls ? world.random.between(100, 30_000) : world.random.between(0.1, faults.syncMs);
        const takesMs = Math.max(usualMs, file.slowUntil - world.now);
        world.later(
          takesMs / 2,
          () => {
            // A dead process requests nothing; its lock, which a system call would keep, is not simulated.
            if (process.isDead) return;
            let failure: unknown;
            try {
              work();
            } catch (error) {
              failure = error;
            }
            const answer = (): void => (failure === undefined ? resolve() : reject(failure));
            world.later(takesMs / 2, answer, { owner: process, kind: 'reply' });
          },
          { owner: null },
        );
      });
    });
  const disk: Disk = {
    async persist(bytes, position) {
      file.begin();
      await ask(() => {
        if (file.text.length !== position) throw new Error('another process has written to it');
        if (file.isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      });
      await ask(() => {
        file.text += bytes.toString();
        world.tell(`${process.name} writes into the journal: ${bytes}`);
      });
      const size = file.text.length;
      await ask(() => {
        file.synced = Math.max(file.synced, Math.min(size, file.text.length));
      });
    },
    failure: (cause) => unwritableJournal('journal.jsonl', cause),
  };
  journal.writer = new GroupWriter(journal, disk, file.text.length);
  return journal;
}

class SimulatedJournal extends JournalState implements Journal {
  readonly lost = new Promise<Error>(() => {});
  writer!: GroupWriter;
  readonly #file: SimulatedFile;

  constructor(file: SimulatedFile) {
    super();
    this.#file = file;
  }

  async *results(first = 1, last = this.lastRow): AsyncGenerator<readonly RowResult[]> {
    const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
    yield rows.filter((row) => this.isFinished(row)).map((row) => this.#result(row));
  }

  #result(row: number): RowResult {
    const offset = this.offset(row);
    const entry = decodeEntry(this.#file.text.slice(offset, this.#file.text.indexOf('\n', offset)));
    if (entry?.type !== 'row') throw new TypeError(`There is no result of row ${row}.`);
    return entry.result;
  }

  get end(): number {
    return this.writer.end;
  }

  append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]> {
    return this.writer.append(entries);
  }

  async isIntact(): Promise<boolean> {
    return true;
  }

  close(): Promise<void> {
    return this.writer.idle();
  }
}
