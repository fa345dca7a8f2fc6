import { describe, expect, test } from 'vitest';
import { type CqbatchError, fatalError } from '../../../src/base/errors/errors.ts';
import { type Disk, GroupWriter } from '../../../src/engine/journal/group-writer.ts';
import { JournalState } from '../../../src/engine/journal/state.ts';
import { finished } from './arbitraries.ts';

/** A write that goes on until the test ends it. */
interface Write {
  readonly text: string;
  readonly position: number;
  readonly end: (error?: Error) => void;
}

/** A disk that hands its writes to the test, one by one. */
class SlowDisk implements Disk {
  readonly #writes: Write[] = [];
  readonly #expecting: ((write: Write) => void)[] = [];

  persist(bytes: Buffer, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      const write = { text: bytes.toString(), position, end };
      const expecting = this.#expecting.shift();
      if (expecting === undefined) this.#writes.push(write);
      else expecting(write);
    });
  }

  failure(cause: unknown): CqbatchError {
    return fatalError('DISK_FULL', 'the disk is full', cause);
  }

  /** The next write, started already or not. */
  next(): Promise<Write> {
    const write = this.#writes.shift();
    return write === undefined
      ? new Promise((resolve) => this.#expecting.push(resolve))
      : Promise.resolve(write);
  }

  /** Writes that have started and were not looked at yet. */
  get pending(): number {
    return this.#writes.length;
  }
}

function setUp() {
  const disk = new SlowDisk();
  const state = new JournalState();
  return { disk, state, writer: new GroupWriter(state, disk, 100) };
}

describe('a group writer', () => {
  test('writes together what was appended while it was writing', async () => {
    const { disk, writer } = setUp();
    const appends = [
      writer.append([finished(1)]),
      writer.append([finished(2)]),
      writer.append([finished(3), finished(4)]),
    ];
    const first = await disk.next();
    first.end();
    await appends[0];
    const second = await disk.next();
    second.end();
    await Promise.all(appends);
    expect([first, second].map(({ text }) => text.split('\n').length - 1)).toEqual([1, 3]);
    expect(first.position).toBe(100);
    expect(second.position).toBe(100 + first.text.length);
    expect(writer.end).toBe(second.position + second.text.length);
    expect(disk.pending).toBe(0);
  });

  test('reports and writes the first result of a row only, within a group and after it', async () => {
    const { disk, writer } = setUp();
    const first = writer.append([finished(1)]);
    const others = [
      writer.append([finished(1), finished(2), finished(2)]),
      writer.append([finished(2), finished(3)]),
    ];
    (await disk.next()).end();
    const write = await disk.next();
    write.end();
    const added = await Promise.all([first, ...others]);
    expect(added.map((results) => results.map((result) => result.row))).toEqual([[1], [2], [3]]);
    expect(write.text.match(/"row":\d/g)).toEqual(['"row":2', '"row":3']);
  });

  test('fails permanently when the disk fails, and knows only what was synced before', async () => {
    const { disk, state, writer } = setUp();
    const good = writer.append([finished(1)]);
    (await disk.next()).end();
    await good;

    const bad = writer.append([finished(2)]);
    const write = await disk.next();
    const waiting = writer.append([finished(3)]);
    write.end(new Error('ENOSPC'));
    await expect(bad).rejects.toMatchObject({ code: 'DISK_FULL', cause: { message: 'ENOSPC' } });
    await expect(waiting).rejects.toMatchObject({ code: 'DISK_FULL' });
    await expect(writer.append([finished(4)])).rejects.toMatchObject({ code: 'DISK_FULL' });

    expect([1, 2, 3, 4].map((number) => state.isFinished(number))).toEqual([true, false, false, false]);
    expect(disk.pending).toBe(0);
    await writer.idle();
  });
});
