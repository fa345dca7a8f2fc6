import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxCalls, maxWindowMs, statedLimits } from '../../../../src/engine/api/limits.ts';
import { maxWaitMs } from '../../../../src/engine/api/wait-reader.ts';
import { anyCharacter } from '../../../any-character.ts';
import { fields, statesEach } from './states-each.ts';

describe('absurd numbers', () => {
  const huge = '9'.repeat(400);
  statesEach([
    ['a quota of 0 is left out', fields('"a";r=1', '"a";q=0'), { name: 'a', remaining: 1 }],
    ['a quota of 10^9 is accepted', fields(undefined, '"a";q=1000000000'), { name: 'a', quota: maxCalls }],
    ['a larger quota is left out', { 'x-ratelimit-limit': '1000000001' }],
    ['a longer window is left out', fields(undefined, '"a";q=5;w=31622401'), { name: 'a', quota: 5 }],
    [
      'what remains is capped, and a huge reset left out',
      fields(`"a";r=${huge};t=${huge}`),
      { name: 'a', remaining: maxCalls },
    ],
  ]);
});

const fieldNames = ['ratelimit', 'x-ratelimit', 'x-rate-limit'].flatMap((family) =>
  ['', '-minute', '-day'].flatMap((window) =>
    ['limit', 'remaining', 'reset'].map((part) => `${family}-${part}${window}`),
  ),
);

test('no number is absurd, whatever the fields contain', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 8 }),
    fc.constantFrom(' ', ...'"a" b ; , = " \\ r t q w qu pk r= ;w= ;q='.split(' ')),
    fc.maxSafeNat().map(String),
    fc.double().map(String),
  );
  const text = fc.oneof(
    fc.string(),
    fc.maxSafeNat().map(String),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  );
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }));
  const names = ['date', 'ratelimit', 'ratelimit-policy', ...fieldNames];
  const headers = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
  const within = (number: number | undefined, least: number, most: number): boolean =>
    number === undefined || (Number.isInteger(number) && number >= least && number <= most);
  fc.assert(
    fc.property(headers, fc.nat(), (given, time) => {
      for (const limit of statedLimits(given, time)) {
        const { name: _, resetBy: __, unit, ...numbers } = limit;
        expect(['requests', 'concurrent-requests']).toContain(unit);
        expect(Object.keys(numbers)).not.toHaveLength(0);
        expect(Object.values(numbers)).not.toContain(undefined);
        expect(within(limit.quota, 1, maxCalls)).toBe(true);
        expect(within(limit.windowMs, 1, maxWindowMs)).toBe(true);
        expect(within(limit.remaining, 0, maxCalls)).toBe(true);
        expect(within(limit.resetMs, 0, maxWaitMs)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
