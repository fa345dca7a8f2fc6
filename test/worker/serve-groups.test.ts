import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fatalError, usageError } from '../../src/errors.ts';
import { silentLog } from '../../src/log.ts';
import type { Pace } from '../../src/pace.ts';
import { deferred } from '../../src/waiting.ts';
import type { Serving } from '../../src/worker/serve.ts';
import { type GroupName, lookMs, serveGroups } from '../../src/worker/serve-groups.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const refused = fatalError('API_REFUSES', 'The token is refused.');
const away = fatalError('API_AWAY', 'The API is away.');
const pace: Pace = { isKept: false, concurrency: 8, phase: 'holding', refuses503: false, reason: '' };

/** A worker of which the test decides what becomes of its groups. */
async function startWorker(tokens: Record<string, string>, unreadable: readonly string[] = []) {
  const stop = new AbortController();
  const log: string[] = [];
  const began: GroupName[] = [];
  const failing = new Map<GroupName, (reason: Error) => void>();
  const worker = await serveGroups({
    look: async () => new Map(Object.entries(tokens)),
    async serve(group, leave) {
      began.push(group);
      if (unreadable.includes(String(group))) throw usageError('TOKEN_EMPTY', 'The token is empty.');
      const end = deferred<Error | undefined>();
      failing.set(group, end.resolve);
      leave.addEventListener('abort', () => end.resolve(undefined));
      return { active: 1, pace, end: end.promise } as Serving;
    },
    log: { ...silentLog, error: (known) => log.push(JSON.stringify(known)) },
    stop: stop.signal,
  });
  return {
    worker,
    stop,
    tokens,
    log,
    began,
    async fail(group: string, reason: Error): Promise<void> {
      failing.get(group)?.(reason);
      await vi.advanceTimersByTimeAsync(0);
    },
    look: () => vi.advanceTimersByTimeAsync(lookMs),
    served: () => worker.paces.map(([group]) => group),
  };
}

test('files that appear or disappear begin and end their groups', async () => {
  const { worker, tokens, served, look, began } = await startWorker({});
  expect(worker.idleBecause).toBe('there is no token of a rate group');
  tokens['acme'] = '1';
  await look();
  tokens['other'] = '1';
  await look();
  expect(served()).toEqual(['acme', 'other']);
  expect(worker).toMatchObject({ active: 2, idleBecause: undefined });
  delete tokens['acme'];
  await look();
  expect(served()).toEqual(['other']);
  tokens['acme'] = '2';
  await look();
  expect(served()).toEqual(['other', 'acme']);
  expect(began).toEqual(['acme', 'other', 'acme']);
});

test('a group whose token is refused stops no other group, and is tried again with another token', async () => {
  const { worker, tokens, served, look, fail, log, stop } = await startWorker({ acme: '1', other: '1' });
  await fail('acme', refused);
  await look();
  await look();
  expect(served()).toEqual(['other']);
  expect(log).toEqual([JSON.stringify({ rate_group: 'acme', err: refused.message })]);
  expect(worker.idleBecause).toBeUndefined();
  tokens['acme'] = '2';
  await look();
  expect(served()).toEqual(['acme', 'other']);
  stop.abort();
  expect(worker.idleBecause).toBe('stopping');
  expect(await worker.end).toBeUndefined();
});

test('a group that fails for another reason is tried again at the next look', async () => {
  const { served, look, fail } = await startWorker({ acme: '1', other: '1' });
  await fail('acme', away);
  expect(served()).toEqual(['other']);
  await look();
  expect(served()).toEqual(['acme', 'other']);
});

test('a token that can not be read is that of one group only', async () => {
  const { served, look, began } = await startWorker({ acme: '1', other: '1' }, ['acme']);
  await look();
  expect(served()).toEqual(['other']);
  expect(began).toEqual(['acme', 'other']);
});

test('the worker ends when all groups have failed, for the last reason', async () => {
  const { worker, fail, began, look } = await startWorker({ acme: '1', other: '1' });
  await fail('acme', refused);
  await fail('other', away);
  expect(await worker.end).toBe(away);
  await look();
  expect(began).toEqual(['acme', 'other']);
});

test('the worker ends when only failed groups are left', async () => {
  const { worker, fail, tokens, look } = await startWorker({ acme: '1', other: '1' });
  await fail('acme', refused);
  delete tokens['other'];
  await look();
  expect(await worker.end).toBe(refused);
});
