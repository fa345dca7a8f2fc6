import { expect, test } from 'vitest';
import { ErrorNews } from '../src/error-news.ts';

test('an error is reported when it comes, once an hour while it lasts, and when it comes back', () => {
  let now = 0;
  const news = new ErrorNews(() => now);
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
