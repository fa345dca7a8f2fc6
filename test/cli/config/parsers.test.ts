import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration, parseInteger, parseRate } from '../../../src/cli/config/parsers.ts';

describe('parseRate', () => {
  test.each([
    ['50/s', 50, { calls: 5, perMs: 100 }],
    ['100/s', 100, { calls: 10, perMs: 100 }],
    ['15/s', 15, { calls: 1, perMs: 67 }],
    ['600/m', 10, { calls: 1, perMs: 100 }],
    ['30/m', 0.5, { calls: 1, perMs: 2_000 }],
    ['0.5/s', 0.5, { calls: 1, perMs: 2_000 }],
    ['1000/h', 1_000 / 3_600, { calls: 1, perMs: 3_600 }],
    [' 5 / sec ', 5, { calls: 1, perMs: 200 }],
  ])('reads %s', (text, perSecond, limit) => {
    const rate = parseRate(text);
    expect(rate.perSecond).toBeCloseTo(perSecond);
    expect(rate.limit).toEqual(limit);
  });

  test.each(['', '50', '0/s', '-1/s', '50/x', 'fast', '1e3/s', '2000000/s'])('refuses %j', (text) => {
    expect(() => parseRate(text)).toThrow(RangeError);
  });

  test('never allows more than was asked for, and not much less from 10/s on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom('s', 'm', 'h'), (count, unit) => {
        const { perSecond, limit } = parseRate(`${count}/${unit}`);
        const allowed = (limit.calls * 1_000) / limit.perMs;
        expect(allowed).toBeLessThanOrEqual(perSecond * (1 + 1e-9));
        if (perSecond >= 10) expect(allowed).toBeGreaterThan(perSecond * 0.98);
      }),
    );
  });
});

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1.5s', 1_500],
    ['30', 30_000],
  ])('reads %s as %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['', '0s', '-1s', 'soon', '1d', '25h', '0.1ms'])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
  });
});

describe('parseInteger', () => {
  test('takes its bounds', () => {
    expect(parseInteger(1, 100)('1')).toBe(1);
    expect(parseInteger(1, 100)('100')).toBe(100);
  });

  test.each(['0', '101', '1.5', '1e1', '', 'x', '-1'])('refuses %j', (text) => {
    expect(() => parseInteger(1, 100)(text)).toThrow('from 1 to 100');
  });
});
