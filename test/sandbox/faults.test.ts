import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { type Answer, restore, restoreRequest, start } from './client.ts';

/** The log without the parts that differ from run to run. */
async function outcomes(sandbox: TestSandbox): Promise<unknown[]> {
  return (await sandbox.log())
    .map(({ id, nth, fault, status, committed, code }) => ({ id, nth, fault, status, committed, code }))
    .sort((a, b) => Number(a.id) - Number(b.id) || Number(a.nth) - Number(b.nth));
}

/** What the client gets for a call that it gives up when the fault is that no answer comes. */
async function answered(sandbox: TestSandbox, fault: string): Promise<Answer | string> {
  const client = new AbortController();
  const answer = restore(sandbox, 1, { signal: client.signal });
  await sandbox.requested(1);
  if (fault.startsWith('timeout')) client.abort();
  return answer.catch(({ message }: Error) => message);
}

const aborted = 'This operation was aborted';
const html = 'text/html; charset=utf-8';

const json = 'application/json';

describe('a fault', () => {
  test.each<[fault: string, isProcessed: boolean, status: number | null, answer: unknown, type?: string]>([
    ['reset', false, null, 'fetch failed'],
    ['timeout', false, null, aborted],
    ['500', false, 500, { code: 13 }, json],
    ['503', false, 503, { code: 14 }, json],
    ['503-retry-after', false, 503, { code: 14 }, json],
    ['reset-after-commit', true, null, 'fetch failed'],
    ['timeout-after-commit', true, null, aborted],
    ['500-after-commit', true, 500, { code: 13 }, json],
    ['502-after-commit', true, 502, undefined, html],
    ['504-after-commit', true, 504, undefined, html],
    ['malformed', true, 200, undefined, json],
    ['wrong-id', true, 200, { evaluation: { evaluation_id: 2 } }, json],
    ['cut-body', true, 200, 'terminated'],
    ['slow-body', true, 200, { evaluation: { evaluation_id: 1 } }, json],
  ])('%s changes the evaluation: %s', async (fault, isProcessed, status, wanted, type) => {
    const sandbox = await start({ fault: `${fault}=100%`, slowBodyDelay: '1ms' });
    const answer = await answered(sandbox, fault);
    if (typeof answer === 'string') expect(answer).toBe(wanted);
    else {
      const { body, headers } = answer;
      expect({ status: answer.status, body }).toMatchObject({ status, body: wanted });
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('retry-after')).toBe(fault === '503-retry-after' ? '1' : null);
    }
    expect(sandbox.evaluation(1)?.deleted_at === undefined).toBe(isProcessed);
    const code = isProcessed ? 'OK' : null;
    const entry = { id: '1', nth: 1, fault, status, committed: isProcessed, code };
    expect(await outcomes(sandbox)).toEqual([entry]);
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
    const entry = { fault: '502-after-commit', code: 'NOT_FOUND', committed: false };
    expect(await outcomes(sandbox)).toMatchObject([entry]);
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
    // Each request for the same identifier has a fault of its own.
    const faults = forwards.map((call) => (call as LogEntry).fault);
    expect(faults.filter((_, index) => index % 3 === 0)).not.toEqual(
      faults.filter((_, index) => index % 3 === 1),
    );
    expect(await run(ids.toReversed(), 1)).toEqual(forwards);
    expect(await run(ids, 2)).not.toEqual(forwards);
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
