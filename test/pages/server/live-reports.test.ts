import { expect, test } from 'vitest';
import { deferred } from '../../../src/base/async/waiting.ts';
import { oneAtATime } from '../../../src/pages/server/live-reports.ts';

test('reports are made one at a time, and each includes everything before its request', async () => {
  const started: { readonly id: string; readonly end: (json: string) => void }[] = [];
  const reportOf = oneAtATime((id) => {
    const { promise, resolve } = deferred<string>();
    started.push({ id, end: resolve });
    return promise;
  });
  const first = reportOf('a');
  await Promise.resolve();
  // A report in progress may lack later events.
  const second = reportOf('a');
  const together = reportOf('a');
  const other = reportOf('b');
  expect(started.map(({ id }) => id)).toEqual(['a']);
  started[0]?.end('a1');
  expect(await first).toBe('a1');
  await expect.poll(() => started.length).toBe(2);
  started[1]?.end('a2');
  expect(await Promise.all([second, together])).toEqual(['a2', 'a2']);
  await expect.poll(() => started.map(({ id }) => id)).toEqual(['a', 'a', 'b']);
  started[2]?.end('b1');
  expect(await other).toBe('b1');
});

test('a failed report does not stop the others', async () => {
  const reportOf = oneAtATime((id) =>
    id === 'bad' ? Promise.reject(new Error('damaged')) : Promise.resolve(id),
  );
  const [bad, good] = await Promise.allSettled([reportOf('bad'), reportOf('good')]);
  expect(bad).toMatchObject({ reason: { message: 'damaged' } });
  expect(good).toMatchObject({ value: 'good' });
});
