import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { type Answer, restore, restoreRequest, start, update } from './client.ts';

/** The log without the parts that differ from run to run. */
async function outcomes(sandbox: TestSandbox): Promise<unknown[]> {
  return (await sandbox.log())
    .map(({ id, nth, fault, status, committed, code }) => ({ id, nth, fault, status, committed, code }))
    .sort((a, b) => Number(a.id) - Number(b.id) || Number(a.nth) - Number(b.nth));
}

describe('requests that are not processed', () => {
  test('reset: the connection breaks, nothing is changed', async () => {
    const sandbox = await start({ fault: 'reset=100%' });
    await expect(restore(sandbox, 1)).rejects.toThrow('fetch failed');
    expect(sandbox.evaluation(1)).toHaveProperty('deleted_at');
    expect(await outcomes(sandbox)).toEqual([
      { id: '1', nth: 1, fault: 'reset', status: null, committed: false, code: null },
    ]);
  });

  test('timeout: no answer until the client gives up, nothing is changed', async () => {
    const sandbox = await start({ fault: 'timeout=100%' });
    const client = new AbortController();
    const answer = restore(sandbox, 1, { signal: client.signal });
    await sandbox.requested(1);
    client.abort();
    await expect(answer).rejects.toThrow('aborted');
    expect(await outcomes(sandbox)).toEqual([
      { id: '1', nth: 1, fault: 'timeout', status: null, committed: false, code: null },
    ]);
  });

  test.each([
    ['500', 500, 13, null],
    ['503', 503, 14, null],
    ['503-retry-after', 503, 14, '1'],
  ])('%s: an error of the service, nothing is changed', async (fault, status, code, retryAfter) => {
    const sandbox = await start({ fault: `${fault}=100%` });
    const answer = await update(sandbox, { soundboard_id: 1, title: 'x' });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code });
    expect(answer.headers.get('retry-after')).toBe(retryAfter);
    expect(sandbox.soundboard(1)?.title).not.toBe('x');
    expect(await outcomes(sandbox)).toEqual([
      { id: '1', nth: 1, fault, status, committed: false, code: null },
    ]);
  });
});

describe('requests that are processed', () => {
  const committed = async (sandbox: TestSandbox, fault: string, status: number | null): Promise<void> => {
    expect(sandbox.evaluation(1)).not.toHaveProperty('deleted_at');
    expect(await outcomes(sandbox)).toEqual([
      { id: '1', nth: 1, fault, status, committed: true, code: 'OK' },
    ]);
  };

  test('reset-after-commit: the change is made, then the connection breaks', async () => {
    const sandbox = await start({ fault: 'reset-after-commit=100%' });
    await expect(restore(sandbox, 1)).rejects.toThrow('fetch failed');
    await committed(sandbox, 'reset-after-commit', null);
  });

  test('timeout-after-commit: the change is made, no answer comes', async () => {
    const sandbox = await start({ fault: 'timeout-after-commit=100%' });
    const client = new AbortController();
    const answer = restore(sandbox, 1, { signal: client.signal });
    await sandbox.requested(1);
    client.abort();
    await expect(answer).rejects.toThrow('aborted');
    await committed(sandbox, 'timeout-after-commit', null);
  });

  test('500-after-commit: the change is made, the answer is an error of the service', async () => {
    const sandbox = await start({ fault: '500-after-commit=100%' });
    const answer = await restore(sandbox, 1);
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({ code: 13 });
    await committed(sandbox, '500-after-commit', 500);
  });

  test.each([502, 504])(
    "%d-after-commit: the change is made, the answer is a proxy's page",
    async (status) => {
      const sandbox = await start({ fault: `${status}-after-commit=100%` });
      const answer = await restore(sandbox, 1);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      committed(sandbox, `${status}-after-commit`, status);
    },
  );

  test('malformed: 200 with broken JSON', async () => {
    const sandbox = await start({ fault: 'malformed=100%' });
    const answer = await restore(sandbox, 1);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(() => JSON.parse(answer.text)).toThrow();
    await committed(sandbox, 'malformed', 200);
  });

  test('wrong-id: 200 with another identifier', async () => {
    const sandbox = await start({ fault: 'wrong-id=100%' });
    expect((await restore(sandbox, 1)).body).toMatchObject({ evaluation: { evaluation_id: 2 } });
    await committed(sandbox, 'wrong-id', 200);
    expect((await update(sandbox, { soundboard_id: 1, title: 'x' })).body).toEqual({ soundboard_id: 2 });
  });

  test('slow-body: the whole answer comes, in two pieces', async () => {
    const sandbox = await start({ fault: 'slow-body=100%', slowBodyDelay: '1ms' });
    expect((await restore(sandbox, 1)).body).toEqual({ evaluation: sandbox.evaluation(1) });
    await committed(sandbox, 'slow-body', 200);
  });

  test('cut-body: the connection breaks in the middle of the answer', async () => {
    const sandbox = await start({ fault: 'cut-body=100%' });
    await expect(restore(sandbox, 1)).rejects.toThrow('terminated');
    await committed(sandbox, 'cut-body', 200);
  });

  test.each(['malformed', 'wrong-id'])('%s does not change a refusal', async (fault) => {
    const sandbox = await start({ fault: `${fault}=100%`, evaluations: 1 });
    const answer = await restore(sandbox, 2);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 5 });
    expect(await outcomes(sandbox)).toMatchObject([{ fault: null, code: 'NOT_FOUND', committed: false }]);
  });

  test('a refusal is lost like any other answer, and changes nothing', async () => {
    const sandbox = await start({ fault: '502-after-commit=100%', evaluations: 1 });
    expect((await restore(sandbox, 2)).status).toBe(502);
    expect(await outcomes(sandbox)).toMatchObject([
      { fault: '502-after-commit', code: 'NOT_FOUND', committed: false },
    ]);
  });
});

describe('faults are drawn', () => {
  const fault = 'reset=20%,500=20%,502-after-commit=20%,wrong-id=20%';

  /** Makes every call of a list three times, in order, without waiting for answers. */
  async function run(ids: readonly number[], seed: number): Promise<unknown[]> {
    const sandbox = await start({ fault, seed });
    for (let round = 0; round < 3; round++) {
      await Promise.allSettled(ids.map((id) => restore(sandbox, id)));
    }
    return await outcomes(sandbox);
  }

  const ids = Array.from({ length: 30 }, (_, index) => index + 1);

  test('from the seed, whatever the order of the requests', async () => {
    const forwards = await run(ids, 1);
    expect(forwards).toHaveLength(90);
    expect(await run(ids.toReversed(), 1)).toEqual(forwards);
    expect(await run(ids, 2)).not.toEqual(forwards);
  });

  test('separately for each request for the same identifier', async () => {
    const sandbox = await start({ fault: '500=50%' });
    const answers: Answer[] = [];
    for (let nth = 1; nth <= 20; nth++) answers.push(await restore(sandbox, 1));
    expect(new Set(answers.map(({ status }) => status)).size).toBeGreaterThan(1);
  });

  test('only for requests that token and rate limit let through', async () => {
    const sandbox = await start({ fault: '500=100%', limit: 'token-bucket:rate=0.001,burst=1' });
    expect((await restore(sandbox, 1, { token: 'wrong' })).status).toBe(401);
    expect((await restore(sandbox, 1)).status).toBe(500);
    expect((await restore(sandbox, 1)).status).toBe(429);
    expect((await sandbox.log()).map(({ nth }) => nth)).toEqual([null, 1, null]);
  });
});

test('answers are delayed by the latency, but changes are made at once', async () => {
  const sandbox = await start({ latency: '1ms..3ms' });
  expect((await restore(sandbox, 1)).status).toBe(200);
  sandbox.configure({ latency: '1m' });
  const client = new AbortController();
  const answer = restore(sandbox, 2, { signal: client.signal });
  await sandbox.requested(2);
  expect(sandbox.evaluation(2)).not.toHaveProperty('deleted_at');
  client.abort();
  await expect(answer).rejects.toThrow('aborted');
  expect(await outcomes(sandbox)).toMatchObject([
    { status: 200 },
    { status: null, committed: true, code: 'OK' },
  ]);
});

test('a request whose body breaks off is logged and changes nothing', async () => {
  const sandbox = await start();
  const socket = connect(sandbox.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(restoreRequest(sandbox, '{"evaluation_id":1', 100), () => socket.destroy());
  await sandbox.requested(1);
  expect(await sandbox.log()).toMatchObject([
    { operation: 'restore-evaluation', id: null, status: null, committed: false },
  ]);
});

test('closing ends requests that hang', async () => {
  const sandbox = await start({ fault: 'timeout=100%' });
  const answer = restore(sandbox, 1);
  await sandbox.requested(1);
  sandbox.close();
  await expect(answer).rejects.toThrow('fetch failed');
  sandbox.close();
});
