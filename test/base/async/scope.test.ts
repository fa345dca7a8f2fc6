import { expect, test } from 'vitest';
import { withScope } from '../../../src/base/async/scope.ts';

test('opened things are released in reverse order, after the work', async () => {
  const log: string[] = [];
  const result = await withScope(async (defer) => {
    defer(() => log.push('first'));
    defer(async () => log.push('second'));
    log.push('work');
    return 'done';
  });
  expect([result, ...log]).toEqual(['done', 'work', 'second', 'first']);
});

test('a failed release does not stop the others, and is reported', async () => {
  const log: string[] = [];
  const work = withScope(async (defer) => {
    defer(() => log.push('first'));
    defer(() => Promise.reject(new Error('not closed')));
  });
  await expect(work).rejects.toThrow('not closed');
  expect(log).toEqual(['first']);
});

test('the error of the work is thrown, and everything opened before it is released', async () => {
  const log: string[] = [];
  const work = withScope(async (defer) => {
    defer(() => log.push('first'));
    defer(() => {
      throw new Error('not closed');
    });
    throw new Error('failed');
  });
  await expect(work).rejects.toThrow('failed');
  expect(log).toEqual(['first']);
});
