import { describe, expect, test } from 'vitest';
import { stableFiles, type WaitingFile } from '../../../src/daemon/inbox/stable-files.ts';

const wall = Date.parse('2026-01-01T00:00:00Z');

/** A file that was last written to at that time, in seconds, and changed otherwise at the other. */
function file(size: number, writtenAt: number, changedAt = writtenAt): WaitingFile {
  return {
    name: 'a.csv',
    ino: 1,
    size,
    mtimeMs: wall + writtenAt * 1_000,
    ctimeMs: wall + changedAt * 1_000,
  };
}

/** The looks, in seconds, at which a file counted as complete that is taken after 5 s. */
function completeAt(looks: readonly (readonly [second: number, file: WaitingFile | undefined])[]): number[] {
  const completeOf = stableFiles(5_000);
  return looks
    .filter(
      ([second, seen]) =>
        completeOf(seen === undefined ? [] : [seen], second * 1_000, wall + second * 1_000).length > 0,
    )
    .map(([second]) => second);
}

describe('a file', () => {
  test.each<
    readonly [what: string, looks: readonly (readonly [number, WaitingFile | undefined])[], at: number[]]
  >([
    ['that was written long ago is complete', [[100, file(9, 0)]], [100]],
    ['that was renamed after it was written is complete at once', [[10, file(9, 9, 9.5)]], [10]],
    [
      'that was written a moment ago is complete when it has not changed for 5 s',
      [
        [10, file(9, 10)],
        [12, file(9, 10)],
        [14.9, file(9, 10)],
        [15, file(9, 10)],
      ],
      [15],
    ],
    [
      'that grows is not complete',
      [
        [10, file(1, 10)],
        [13, file(2, 13)],
        [16, file(3, 16)],
        [19, file(4, 19)],
        [24, file(4, 19)],
      ],
      [24],
    ],
    [
      'whose times come from a clock that is ahead is complete when it has not changed for 5 s',
      [
        [10, file(9, 500)],
        [14, file(9, 500)],
        [15, file(9, 500)],
      ],
      [15],
    ],
    [
      'that grows on a machine whose clock is ahead is not complete',
      [
        [10, file(1, 500)],
        [14, file(2, 504)],
        [18, file(3, 508)],
        [23, file(3, 508)],
      ],
      [23],
    ],
    [
      'that was away is watched again from the start',
      [
        [10, file(9, 500)],
        [12, undefined],
        [15, file(9, 500)],
        [20, file(9, 500)],
      ],
      [20],
    ],
  ])('%s', (_what, looks, at) => {
    expect(completeAt(looks)).toEqual(at);
  });
});
