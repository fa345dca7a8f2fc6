import { expect, test } from 'vitest';
import { restore, start } from './client.ts';

test('more requests than the bucket holds are 429 with Retry-After in whole seconds', async () => {
  const sandbox = await start({ limit: 'token-bucket:rate=0.01,burst=2' });
  const answers = [await restore(sandbox, 1), await restore(sandbox, 2), await restore(sandbox, 3)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]?.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(answers[2]?.body).toMatchObject({ code: 8, message: 'too many requests', details: [] });
  expect(sandbox.evaluation('3')).toHaveProperty('deleted_at');
  expect([...sandbox.log()].at(-1)).toMatchObject({
    id: '3',
    nth: null,
    status: 429,
    code: 'RESOURCE_EXHAUSTED',
    committed: false,
    throttled: true,
  });
  expect(sandbox.stats()).toMatchObject({ requests: 3, throttled: 1, by_status: { 200: 2, 429: 1 } });
});

test.each([
  ['header', true, []],
  ['none', false, []],
  [
    'retry-info',
    false,
    [
      {
        '@type': 'type.googleapis.com/google.rpc.RetryInfo',
        retryDelay: expect.stringMatching(/^\d+(\.\d{1,3})?s$/),
      },
    ],
  ],
] as const)('the waiting time is told by %s', async (retryAfter, inHeader, details) => {
  const sandbox = await start({ limit: 'token-bucket:rate=0.01,burst=1', retryAfter });
  await restore(sandbox, 1);
  const { status, headers, body } = await restore(sandbox, 2);
  expect(status).toBe(429);
  expect(headers.has('retry-after')).toBe(inHeader);
  expect(body).toMatchObject({ details });
});

test('requests with a wrong token take nothing from the bucket', async () => {
  const sandbox = await start({ limit: 'token-bucket:rate=0.01,burst=1' });
  await restore(sandbox, 1, { token: 'wrong' });
  expect((await restore(sandbox, 1)).status).toBe(200);
});

test('another limit at run time starts full; other changes leave it as it is', async () => {
  const sandbox = await start({ limit: 'token-bucket:rate=0.01,burst=1' });
  await restore(sandbox, 1);
  sandbox.configure({ errorStyle: 'google' });
  expect((await restore(sandbox, 2)).status).toBe(429);
  sandbox.configure({ limit: 'token-bucket:rate=0.01,burst=1' });
  expect((await restore(sandbox, 2)).status).toBe(200);
  sandbox.configure({ limit: 'none' });
  expect((await restore(sandbox, 3)).status).toBe(200);
});
