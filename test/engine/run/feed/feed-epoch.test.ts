import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Datastore } from '../../../../src/engine/datastore/datastore.ts';
import { lockMs } from '../../../../src/engine/queue/bullmq.ts';
import { FeedEpoch } from '../../../../src/engine/run/feed/feed-epoch.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A coordinator on a datastore of which it may see no epoch, or only that of its connection. */
async function begun(
  names: { readonly connectionEpoch: string | undefined; readonly full: string | undefined },
  { exclusive = false } = {},
) {
  const present = { ...names };
  const listeners = new Set<() => void>();
  const datastore = {
    exclusive,
    get connectionEpoch() {
      return present.connectionEpoch;
    },
    epoch: async () => present.full,
    onReconnect(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const onEnd = vi.fn();
  const epoch = new FeedEpoch(datastore as unknown as Datastore, onEnd);
  const reconnect = (changed: Partial<typeof present> = {}): void => {
    Object.assign(present, changed);
    for (const listener of listeners) listener();
  };
  return { present, epoch, onEnd, reconnect };
}

const one = { connectionEpoch: 'one', full: 'key+one' };

test('a connection to another server, or to other data, ends the epoch at once', async () => {
  const { epoch, onEnd, reconnect } = await begun(one);
  await epoch.read();
  reconnect();
  expect([onEnd.mock.calls.length, epoch.isPresent('key+one'), epoch.isPast('key+one')]).toEqual([
    0,
    true,
    false,
  ]);
  reconnect({ connectionEpoch: 'two' });
  expect([onEnd.mock.calls.length, epoch.isPresent('key+one'), epoch.isPast('key+one')]).toEqual([
    1,
    false,
    true,
  ]);
  epoch.close();
  reconnect({ connectionEpoch: 'three' });
  expect(onEnd).toHaveBeenCalledOnce();
});

test('an epoch that ends before it is read, or while it is read, has no present', async () => {
  const { epoch, onEnd, reconnect } = await begun(one);
  const reading = epoch.read();
  reconnect({ connectionEpoch: 'two', full: 'key+two' });
  await reading;
  await epoch.read();
  expect(onEnd).toHaveBeenCalledOnce();
  expect(['key+one', 'key+two'].map((each) => epoch.isPresent(each))).toEqual([false, false]);
});

test('a coordinator that begins while the datastore is away takes the epoch of the first reply', async () => {
  const { epoch, onEnd, reconnect } = await begun({ connectionEpoch: undefined, full: 'key+one' });
  reconnect({ connectionEpoch: 'one' });
  await epoch.read();
  expect([onEnd.mock.calls.length, epoch.isPresent('key+one')]).toEqual([0, true]);
  reconnect({ connectionEpoch: 'two' });
  expect(onEnd).toHaveBeenCalledOnce();
});

test('rows that were fed before all keys were deleted, or to a datastore that showed no epoch, are of a past one', async () => {
  const { epoch } = await begun(one);
  await epoch.read();
  expect(['key+one', 'former+one', undefined].map((each) => epoch.isPast(each))).toEqual([false, true, true]);
});

test('a datastore that shows no epoch proves nothing', async () => {
  const { epoch } = await begun({ connectionEpoch: undefined, full: undefined });
  await epoch.read();
  expect(['key+one', undefined].map((each) => [epoch.isPresent(each), epoch.isPast(each)])).toEqual([
    [false, false],
    [false, false],
  ]);
});

test.each([
  { of: 'other processes', exclusive: false, mayBeCalled: [true, true, false] },
  { of: 'this process only', exclusive: true, mayBeCalled: [false, false, false] },
])('after a loss, workers $of may begin calls for as long as their locks last', async (scene) => {
  const { epoch } = await begun(one, scene);
  epoch.noteLoss();
  const seen = [epoch.mayBeCalled];
  vi.advanceTimersByTime(lockMs - 1);
  seen.push(epoch.mayBeCalled);
  vi.advanceTimersByTime(1);
  seen.push(epoch.mayBeCalled);
  expect(seen).toEqual(scene.mayBeCalled);
});
