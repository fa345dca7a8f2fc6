import { expect, test } from 'vitest';
import { stableFiles, type WaitingFile } from '../../../src/daemon/inbox/stable-files.ts';

const wall = Date.parse('2026-01-01T00:00:00Z');

type Look = readonly [second: number, file: WaitingFile | undefined];

/** A look at a file that was last written to at that time, in seconds, and changed otherwise at the other. */
function look(second: number, size: number, writtenAt: number, changedAt = writtenAt): Look {
  const mtimeMs = wall + writtenAt * 1_000;
  return [second, { name: 'a.csv', ino: 1, size, mtimeMs, ctimeMs: wall + changedAt * 1_000 }];
}

/** The looks, in seconds, at which a file counted as complete that is taken after 5 s. */
function completeAt(looks: readonly Look[]): number[] {
  const completeOf = stableFiles(5_000);
  const isComplete = ([second, seen]: Look) =>
    completeOf(seen === undefined ? [] : [seen], second * 1_000, wall + second * 1_000).length > 0;
  return looks.filter(isComplete).map(([second]) => second);
}

const away: Look = [12, undefined];
const [grown, later] = [look(19, 4, 19), look(24, 4, 19)];

test.each<[what: string, looks: readonly Look[], at: number]>([
  ['was written long ago is complete', [look(100, 9, 0)], 100],
  ['was renamed after it was written is complete at once', [look(10, 9, 9, 9.5)], 10],
  [
    'was written a moment ago is complete when it has not changed for 5 s',
    [look(10, 9, 10), look(12, 9, 10), look(14.9, 9, 10), look(15, 9, 10)],
    15,
  ],
  ['grows is not complete', [look(10, 1, 10), look(13, 2, 13), look(16, 3, 16), grown, later], 24],
  [
    'has times of a clock that is ahead is complete when it has not changed for 5 s',
    [look(10, 9, 500), look(14, 9, 500), look(15, 9, 500)],
    15,
  ],
  [
    'grows on a machine whose clock is ahead is not complete',
    [look(10, 1, 500), look(14, 2, 504), look(18, 3, 508), look(23, 3, 508)],
    23,
  ],
  ['was away is watched again', [look(10, 9, 500), away, look(15, 9, 500), look(20, 9, 500)], 20],
])('a file that %s', (_what, looks, at) => {
  expect(completeAt(looks)).toEqual([at]);
});
