import { describe, expect, test } from 'vitest';
import { logLine, type ProgramLogEntry } from '../../../src/cli/render/log-line.ts';

const said = (entry: Omit<ProgramLogEntry, 'time'>) =>
  logLine({ time: 0, ...entry })?.replace(/^\d\d:\d\d:\d\d {2}/, '');

describe('what --verbose says', () => {
  test.each<[Omit<ProgramLogEntry, 'time'>, string | undefined]>([
    [
      { msg: 'pace', rate_per_s: 51, limit_per_s: 50, concurrency: 20, reason: 'just under the limit' },
      'rate: at most 51/s, limit of the API 50/s, 20 in flight at most (just under the limit)',
    ],
    [
      { msg: 'pace', rate_per_s: 51, concurrency: 20, wait_ms: 90_000, reason: 'the API asks to wait' },
      'rate: no call for 1 min 30 s, 20 in flight at most (the API asks to wait)',
    ],
    [
      { msg: 'pace', concurrency: 8, reason: 'no limit is wanted' },
      'rate: as fast as can be, 8 in flight at most (no limit is wanted)',
    ],
    [
      { msg: 'row waits', row: 7, code: 'HTTP_500', attempts: 2, delay_ms: 1_540 },
      'row 7: HTTP_500, attempt 2; tried again in 1.5 s',
    ],
    [
      { msg: 'the API asks to slow down', row: 7, wait_ms: 12_000 },
      'row 7: the API asks to slow down, for 12 s; tried again, no attempt used up',
    ],
    [{ msg: 'row finished', row: 7, code: 'OK' }, undefined],
  ])('of %j', (entry, text) => {
    expect(said(entry)).toBe(text);
  });
});
