import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Answer, restore, restorePath, send, start } from './client.ts';

test('requests beyond the bucket get a 429 with Retry-After in whole seconds', async () => {
  const sandbox = await start({ limit: 'token-bucket:rate=0.01,burst=2' });
  const answers = [await restore(sandbox, 1), await restore(sandbox, 2), await restore(sandbox, 3)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]?.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(answers[2]?.body).toMatchObject({ code: 8, message: 'too many requests', details: [] });
  expect(sandbox.evaluation(3)).toHaveProperty('deleted_at');
  const entry = { id: '3', nth: null, status: 429, code: 'RESOURCE_EXHAUSTED' };
  expect((await sandbox.log()).at(-1)).toMatchObject({ ...entry, committed: false, throttled: true });
});

test('refusals can be 503, and still say how long to wait', async () => {
  // Otherwise a second less is left on a slow machine.
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const sandbox = await start({ limit: 'token-bucket:rate=0.01,burst=1', limitStatus: '503' });
  await restore(sandbox, 1);
  const { status, headers, body } = await restore(sandbox, 2);
  expect(status).toBe(503);
  expect(headers.get('retry-after')).toBe('100');
  expect(body).toMatchObject({ code: 14, message: 'too many requests' });
  expect((await sandbox.log()).at(-1)).toMatchObject({ status: 503, code: 'UNAVAILABLE', throttled: true });
});

test('requests that wait in a leaky bucket are done at once and answered later', async () => {
  const sandbox = await start({ limit: 'leaky-bucket:rate=0.001,queue=1', limitHeaders: 'ratelimit' });
  const first = await restore(sandbox, 1);
  expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"default";r=1;t=1000']);
  const client = new AbortController();
  const waiting = restore(sandbox, 2, { signal: client.signal });
  await sandbox.requested(2);
  expect(sandbox.evaluation(2)).not.toHaveProperty('deleted_at');
  expect((await restore(sandbox, 3)).status).toBe(429);
  client.abort();
  await expect(waiting).rejects.toThrow('aborted');
  expect((await sandbox.log()).map(({ status }) => status)).toEqual([200, null, 429]);
});

describe.each([
  ['ratelimit', ['ratelimit-policy', 'ratelimit']],
  ['ratelimit-fields', ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']],
  ['x-ratelimit', ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']],
  ['none', []],
])('the headers of %s', (limitHeaders, names) => {
  const sent = ({ headers }: Answer): string[] =>
    [...headers.keys()].filter((name) => /ratelimit/.test(name));

  test('are on every answer to a request that reached the limit', async () => {
    const sandbox = await start({ limitHeaders, limit: 'fixed-window:limit=5,window=24h', evaluations: 1 });
    const answers = [await restore(sandbox, 1), await restore(sandbox, 2)];
    answers.push(await send(sandbox, restorePath, '{', {}));
    for (const fault of ['500-after-commit=100%', '502-after-commit=100%', 'none']) {
      sandbox.configure({ fault });
      answers.push(await restore(sandbox, 1));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 500, 502, 429]);
    for (const answer of answers) expect(sent(answer)).toEqual([...names].sort());
    const remaining = answers.map(({ headers }) => /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    if (limitHeaders === 'ratelimit') expect(remaining).toEqual(['4', '3', '2', '1', '0', '0']);
  });
});
