import { expect, test } from 'vitest';
import { ErrorThrottle, LastingErrors } from '../../../src/base/errors/error-throttle.ts';

test('an error is reported when it comes, once an hour while it lasts, and when it comes back', () => {
  let now = 0;
  const news = new ErrorThrottle(() => now);
  const error = new Error('the inbox is not there');
  const toldAt: number[] = [];
  const fails = (from: number, until: number): void => {
    for (now = from; now < until; now += 30) if (news.isNews(error)) toldAt.push(now / 60_000);
  };
  fails(0, 150 * 60_000);
  fails(153 * 60_000, 154 * 60_000);
  expect(toldAt).toEqual([0, 60, 120, 153]);
  expect(news.isNews(new Error('another one'))).toBe(true);
});

/** After which of these seconds, in each of which the same action fails, users are told. */
function toldAfter(...seconds: readonly number[]): readonly number[] {
  let now = 0;
  const errors = new LastingErrors(() => now);
  return seconds.filter((second) => {
    now = second * 1_000;
    errors.see(new Error('refused'));
    return errors.lastingError !== undefined;
  });
}

test.each([
  ['an error that came once is no news', [0], []],
  ['an error that comes again and again is told after five seconds', [0, 1, 2, 3, 4, 5, 6], [5, 6]],
  ['an action that is tried every five seconds fails again and again, too', [0, 5, 10], [5, 10]],
  ['an error that has been away for longer comes for the first time', [0, 2, 9, 11, 13, 15], [15]],
])('%s', (_title, seconds, expected) => {
  expect(toldAfter(...seconds)).toEqual(expected);
});

test('the error that has lasted longest is told, with its time, until it comes no more', () => {
  let now = 0;
  const errors = new LastingErrors(() => now);
  for (now = 0; now <= 10_000; now += 1_000) {
    errors.see(new Error('first'));
    if (now >= 2_000) errors.see(new Error('second'));
  }
  now = 10_000;
  expect(errors.lastingError).toMatchObject({ error: { message: 'first' }, forMs: 10_000 });
  expect(errors.text).toBe('a command of the datastore fails again and again (first)');
  now = 16_001;
  expect([errors.lastingError, errors.text]).toEqual([undefined, undefined]);
});
