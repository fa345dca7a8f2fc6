import { inWords } from '../../base/text/format.ts';
import { readMoment } from '../../base/text/moment.ts';

/**
 * Times of RFC 3339, or values of an enumeration. JSON gateways of Protocol Buffers refuse other times and silently drop other values, so
 * an empty text clears neither.
 */
export type ExpectedValues = 'time' | readonly string[];

/** Says what a field expects instead of a value. Undefined for an expected value. */
export type Expectation = (value: string) => string | undefined;

export function expectationOf(expects: ExpectedValues): Expectation {
  if (expects === 'time') return (value) => (isTime(value) ? undefined : expectedTime);
  const known = new Set(expects);
  const named = inWords(expects, 'or');
  return (value) => (known.has(value) ? undefined : named);
}

const expectedTime = 'a time of RFC 3339, such as 2026-11-16T10:00:00Z';

/** A time as Protocol Buffers read it: year 1 or later, at most nanoseconds, capital letters. */
const rfc3339Time = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function isTime(value: string): boolean {
  return rfc3339Time.test(value) && readMoment(value) !== undefined;
}
