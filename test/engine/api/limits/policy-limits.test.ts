import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxCalls, maxWindowMs, statedLimits } from '../../../../src/engine/api/limits.ts';
import { maxWaitMs } from '../../../../src/engine/api/wait-reader.ts';
import { fields, now, statesEach } from './states-each.ts';

describe('RateLimit and RateLimit-Policy state', () => {
  statesEach([
    ['unknown parameters', fields('"a";acme="x;r=5,";r=1;flag;n=1.5'), { name: 'a', remaining: 1 }],
    [
      'partitions of one policy',
      fields('"a";r=1;pk=:QQ==:, "a";r=2;pk=:Qg==:', '"a";q=10;pk=:QQ==:, "a";q=20;pk=:Qg==:'),
      { name: 'a;pk=:QQ==:', quota: 10, remaining: 1 },
      { name: 'a;pk=:Qg==:', quota: 20, remaining: 2 },
    ],
    [
      'concurrent requests',
      fields('"a";r=1', '"a";q=10;qu="concurrent-requests", "b";q=5;qu="requests"'),
      { name: 'a', quota: 10, remaining: 1, unit: 'concurrent-requests' },
      { name: 'b', quota: 5 },
    ],
    ['no bytes', fields('"a";r=1', '"a";q=10;qu="content-bytes", "b";q=10;qu="content-bytes"')],
    ['nothing with an unknown unit', fields(undefined, '"a";q=10;qu="requests "')],
  ]);
});

describe('malformed RateLimit fields state', () => {
  statesEach([
    ['only their valid parts', fields('"a";r=-1;t=5'), { name: 'a', resetMs: 5000 }],
    ['no fractions', fields('"a";r=1.5;t=2', '"a";q=3.5;w=1.5'), { name: 'a', resetMs: 2000 }],
    ['no window without a quota', fields(undefined, '"a";w=60')],
    ['nothing of a list with one bad item', fields('"a";r=1, "b')],
    ['nothing with a name that is not ASCII', fields('"\u009b31m";r=1')],
    ['nothing in the form of draft 07, if a part is malformed', fields('limit=100, remaining=a b, reset=30')],
    ['nothing when too long', fields(`"a";r=1;x=${'y'.repeat(4096)}`)],
  ]);

  test('at most 20 items of a list', () => {
    const list = Array.from({ length: 50 }, (_, index) => `"${index}";r=1`).join(',');
    expect(statedLimits(fields(list), now)).toHaveLength(20);
  });
});

test('valid RateLimit fields are read as they were meant', () => {
  const seconds = (mostMs: number) => fc.integer({ min: 1, max: mostMs / 1000 });
  const limit = fc.record({
    name: fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
    quota: fc.integer({ min: 1, max: maxCalls }),
    window: seconds(maxWindowMs),
    remaining: fc.integer({ min: 0, max: maxCalls }),
    reset: seconds(maxWaitMs),
    unit: fc.constantFrom('requests' as const, 'concurrent-requests' as const),
  });
  const limits = fc.uniqueArray(limit, { selector: ({ name }) => name, maxLength: 20 });
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  fc.assert(
    fc.property(limits, fc.constantFrom(',', ', ', ' ,\t'), (given, separator) => {
      const list = given.map(({ name, remaining, reset }) => `${quoted(name)};r=${remaining};t=${reset}`);
      const policies = given.map(
        ({ name, quota, window, unit }) => `${quoted(name)};q=${quota};qu="${unit}"; w=${window}`,
      );
      expect(statedLimits(fields(list.join(separator), policies.reverse()), now)).toEqual(
        given.map(({ name, quota, window, remaining, reset, unit }) => ({
          name,
          quota,
          windowMs: window * 1000,
          remaining,
          resetMs: reset * 1000,
          ...(reset > 60 && { resetBy: `RateLimit: t=${reset}` }),
          unit,
        })),
      );
    }),
  );
});
