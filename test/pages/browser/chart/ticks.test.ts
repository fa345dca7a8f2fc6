import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { timeSteps, timeTicks } from '../../../../src/pages/browser/chart/ticks.ts';

const at = (time: string): number => Date.parse(time) / 1_000;

/** The times of an axis that begins then. */
const axis = (from: number, step: number, count = 6): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index * step);

describe('the texts of a time axis', () => {
  beforeEach(() => {
    const winter = Date.parse('2026-10-25T01:00:00Z');
    vi.spyOn(Date.prototype, 'getTimezoneOffset').mockImplementation(function (this: Date) {
      return this.getTime() > winter - 200 * 86_400_000 && this.getTime() < winter ? -120 : -60;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    [10, ['11:59:40\nUTC+1', '11:59:50', '12:00:00']],
    [600, ['11:59\nUTC+1', '12:09', '12:19']],
    [43_200, ['11:59\n2026-01-01 UTC+1', '23:59', '11:59\n2026-01-02']],
    [86_400, ['2026-01-01\nUTC+1', '2026-01-02', '2026-01-03']],
  ])('name the zone once, and seconds and days only where the step needs them: %d s', (step, texts) => {
    expect(timeTicks(axis(at('2026-01-01T10:59:40Z'), step, 3), step)).toEqual(texts);
  });

  test('differ when the clock is put back', () => {
    expect(timeTicks(axis(at('2026-10-24T23:30:00Z'), 1_800, 4), 1_800)).toEqual([
      '01:30\nUTC+2',
      '02:00',
      '02:30',
      '02:00\nUTC+1',
    ]);
  });

  test('never repeat next to each other', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2_000_000_000 }),
        fc.constantFrom(...timeSteps),
        (start, step) => {
          const texts = timeTicks(axis(start - (start % step), step), step);
          for (const [index, text] of texts.entries()) expect(text).not.toBe(texts[index + 1]);
        },
      ),
    );
  });
});
