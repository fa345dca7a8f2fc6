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

test.each(['the work', 'a release'])(
  'an error of %s is thrown, and everything opened before is released',
  async (what) => {
    const log: string[] = [];
    const work = withScope(async (defer) => {
      defer(() => log.push('first'));
      defer(() => Promise.reject(new Error('error of a release')));
      if (what === 'the work') throw new Error('error of the work');
    });
    await expect(work).rejects.toThrow(`error of ${what}`);
    expect(log).toEqual(['first']);
  },
);
