import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectionTrouble } from '../../../src/datastore/redis/trouble.ts';

const misconf = new Error('MISCONF Errors writing to the AOF file: No space left on device');

afterEach(() => void vi.restoreAllMocks());

/** At which of these seconds, in each of which Redis refuses to write, its disk counted as full. */
function taken(...seconds: readonly number[]): readonly number[] {
  const told: number[] = [];
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const trouble = connectionTrouble({ where: 'redis://r', secrets: [] }, () => told.push(now / 1_000));
  for (const second of seconds) {
    now = second * 1_000;
    trouble.noteReply(misconf);
  }
  return told;
}

describe('a Redis that cannot write to its disk', () => {
  test.each([
    ['is waited for at first', [0, 1, 2, 9.9], []],
    ['is given up when it has refused every write for ten seconds', [0, 2, 4, 6, 8, 10], [10]],
    ['is not given up when it has written in between', [0, 2, 4, 9, 11, 13, 15, 18.9], []],
    ['is given up ten seconds after that', [0, 2, 9, 11, 13, 15, 17, 19], [19]],
  ])('%s', (_title, seconds, expected) => {
    expect(taken(...seconds)).toEqual(expected);
  });

  test('is reported as in trouble meanwhile, which only that reply makes final', () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const told: Error[] = [];
    const trouble = connectionTrouble({ where: 'redis://r', secrets: [] }, (error) => told.push(error));
    for (now = 0; now <= 60_000; now += 1_000) trouble.noteReply(new Error('OOM command not allowed'));
    expect(told).toEqual([]);
    expect(trouble.text).toBe('Redis at redis://r has no memory left');
  });
});
