import { expect, test } from 'vitest';
import { stableFiles, type WaitingFile } from '../../../src/daemon/inbox/stable-files.ts';

const disk = Date.parse('2026-01-01T00:00:00Z');

type Look = readonly [second: number, ...files: WaitingFile[]];

interface Other extends Partial<Pick<WaitingFile, 'name' | 'ino' | 'birthtimeMs'>> {
  /** When something else than the content was changed, in seconds. */
  readonly changedAt?: number;
}

/** A file that was last written to at that time, in seconds. */
function file(size: number, writtenAt: number, { changedAt = writtenAt, ...other }: Other = {}): WaitingFile {
  const mtimeMs = disk + writtenAt * 1_000;
  const ctimeMs = disk + changedAt * 1_000;
  return { name: 'a.csv', ino: 1, size, mtimeMs, ctimeMs, birthtimeMs: disk, ...other };
}

/** The looks, in seconds, at which a manifest counted as complete that is taken after 5 s. */
function completeAt(looks: readonly Look[]): number[] {
  const completeOf = stableFiles(5_000, (name) => name.endsWith('.csv'));
  const isComplete = ([second, ...seen]: Look) =>
    completeOf(seen, second * 1_000, disk + second * 1_000).length > 0;
  return looks.filter(isComplete).map(([second]) => second);
}

const part = { name: 'a.csv.part' };
const [grown, later] = [file(4, 19), file(4, 19)];

test.each<[what: string, looks: readonly Look[], at: readonly number[]]>([
  ['was written long ago is complete', [[100, file(9, 0)]], [100]],
  [
    'was written a moment ago is complete when it has not changed for 5 s',
    [10, 12, 14.9, 15].map((second): Look => [second, file(9, 10)]),
    [15],
  ],
  [
    'grows is not complete',
    [
      [10, file(1, 10)],
      [13, file(2, 13)],
      [16, file(3, 16)],
      [19, grown],
      [24, later],
    ],
    [24],
  ],
  [
    'gets permissions, attributes or a link while it is written waits from then',
    [
      [10, file(5, 9, { changedAt: 9.5 })],
      [14, file(5, 9, { changedAt: 9.5 })],
      [14.5, file(9, 14.5)],
      [19.5, file(9, 14.5)],
    ],
    [19.5],
  ],
  [
    'gets the time of its original at the end waits from then',
    [
      [10, file(9, -5_000, { changedAt: 9 })],
      [14, file(9, -5_000, { changedAt: 9 })],
    ],
    [14],
  ],
  ['was moved here after it was written waits from then', [[10, file(9, 1, { changedAt: 9.5 })]], []],
  [
    'was renamed before these looks waits, too',
    [
      [10, file(9, 1, { changedAt: 9.5 })],
      [14, file(9, 1, { changedAt: 9.5 })],
      [15, file(9, 1, { changedAt: 9.5 })],
    ],
    [15],
  ],
  [
    'was seen under the name of an unfinished file is complete at once',
    [
      [10, file(8, 9, part)],
      [11, file(9, 10.5, { changedAt: 10.9 })],
    ],
    [11],
  ],
  [
    'is written again after it was renamed waits',
    [
      [10, file(8, 9, part)],
      [11, file(9, 10.5)],
      [12, file(10, 11.5)],
      [16, file(10, 11.5)],
      [16.5, file(10, 11.5)],
    ],
    [11, 16.5],
  ],
  [
    'is a second link to an unfinished file waits',
    [
      [10, file(8, 9, part)],
      [11, file(8, 9, { ...part, changedAt: 10.5 }), file(8, 9, { changedAt: 10.5 })],
    ],
    [],
  ],
  [
    'was renamed while it was a manifest waits: a program may still write to it',
    [
      [10, file(8, 9, { name: 'old.csv' })],
      [11, file(8, 9, { changedAt: 10.5 })],
    ],
    [],
  ],
  [
    'has the inode of a deleted unfinished file waits',
    [
      [10, file(8, 9, part)],
      [11, file(8, 10.5, { birthtimeMs: disk + 10_500 })],
    ],
    [],
  ],
  [
    'was renamed on a disk that keeps no time of birth waits',
    [
      [10, file(8, 9, { ...part, birthtimeMs: 0 })],
      [11, file(8, 9, { changedAt: 10.5, birthtimeMs: 0 })],
    ],
    [],
  ],
  ['is empty waits ten times as long', [10, 15, 59, 60].map((second): Look => [second, file(0, 10)]), [60]],
  [
    'is empty when it is renamed waits',
    [
      [10, file(0, 9, part)],
      [11, file(0, 9, { changedAt: 10.5 })],
      [12, file(9, 12)],
      [17, file(9, 12)],
    ],
    [17],
  ],
  ['has been empty for long is complete', [[100, file(0, 10)]], [100]],
  [
    'has times of a clock that is ahead is complete when it has not changed for 5 s',
    [10, 14, 15].map((second): Look => [second, file(9, 500, { changedAt: 10 })]),
    [15],
  ],
  [
    'grows while it has the times of a clock that is ahead is not complete',
    [
      [10, file(1, 500)],
      [14, file(2, 504)],
      [18, file(3, 508)],
      [23, file(3, 508)],
    ],
    [23],
  ],
  ['was away is watched again', [[10, file(9, 500)], [12], [15, file(9, 500)], [20, file(9, 500)]], [20]],
])('a file that %s', (_what, looks, at) => {
  expect(completeAt(looks)).toEqual(at);
});
