import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RollCall } from '../../../src/engine/queue/roll-call.ts';
import type { Testimony } from '../../../src/engine/queue/testimony.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A coordinator that has seen two workers, at a datastore in its first epoch. */
async function begun() {
  const datastore = {
    connectionEpoch: 'one',
    mark: 'kept',
    epoch: async () => `${datastore.connectionEpoch} ${datastore.mark}`,
  };
  const present = new Map([
    ['a', 0],
    ['b', 0],
  ]);
  const testimonies = new Map<string, Testimony>();
  const says = (worker: string, batches: Testimony['batches'] = {}): void => {
    testimonies.set(worker, { epoch: datastore.connectionEpoch, batches });
  };
  const rollCall = new RollCall(datastore, {
    present: async () => present,
    testimonies: async () => testimonies,
  });
  says('a');
  says('b');
  await rollCall.update();
  return { datastore, present, says, rollCall };
}

test('a batch of the present epoch is not in question', async () => {
  const { rollCall } = await begun();
  expect([rollCall.isOfAnother('one'), rollCall.isOfAnother(undefined)]).toEqual([false, false]);
});

test('in a new epoch, every worker that was alive is awaited; then it is certain what was called', async () => {
  const { datastore, rollCall, says } = await begun();
  datastore.connectionEpoch = 'two';
  expect([rollCall.isOfAnother('one'), rollCall.recollect('x', 'one')]).toEqual([true, undefined]);
  says('a', { x: null });
  await rollCall.update();
  expect(rollCall.recollect('x', 'one')).toBeUndefined();
  const value = { results: [], leftovers: [] };
  says('b', { y: value });
  await rollCall.update();
  expect(['x', 'y', 'z'].map((id) => rollCall.recollect(id, 'one'))).toEqual([
    { testimony: null, isCertain: true },
    { testimony: value, isCertain: true },
    { testimony: undefined, isCertain: true },
  ]);
});

test('a worker that is silent is dead: what it did in the epoch before is unknown, but not what comes after', async () => {
  const { datastore, present, rollCall, says } = await begun();
  datastore.connectionEpoch = 'two';
  says('a');
  present.delete('b');
  await rollCall.update();
  expect(rollCall.recollect('x', 'one')).toBeUndefined();
  vi.advanceTimersByTime(15_001);
  await rollCall.update();
  expect(rollCall.recollect('x', 'one')).toEqual({ testimony: undefined, isCertain: false });
  datastore.connectionEpoch = 'three';
  says('a');
  await rollCall.update();
  expect(rollCall.recollect('x', 'two')).toEqual({ testimony: undefined, isCertain: true });
});

test('a worker that lives is awaited while its calls are in flight', async () => {
  const { datastore, rollCall, says } = await begun();
  datastore.connectionEpoch = 'two';
  says('a');
  await rollCall.update();
  vi.advanceTimersByTime(60_000);
  await rollCall.update();
  expect(rollCall.recollect('x', 'one')).toBeUndefined();
});

test('a coordinator that begins after the loss is certain of nothing that was added before', async () => {
  const { datastore, rollCall } = await begun();
  expect(rollCall.recollect('x', 'none')).toEqual({ testimony: undefined, isCertain: false });
  expect(datastore.connectionEpoch).toBe('one');
});

test('workers that died long before the loss are not awaited', async () => {
  const { datastore, present, rollCall, says } = await begun();
  present.set('b', 20_000);
  vi.advanceTimersByTime(20_000);
  await rollCall.update();
  datastore.connectionEpoch = 'two';
  says('a');
  await rollCall.update();
  expect(rollCall.recollect('x', 'one')).toEqual({ testimony: undefined, isCertain: true });
});

test('a datastore that was emptied without a restart does not know all workers', async () => {
  const { datastore, present, rollCall, says } = await begun();
  datastore.connectionEpoch = 'two';
  await rollCall.readEpoch();
  datastore.mark = 'new';
  present.clear();
  says('a');
  says('b');
  await rollCall.update();
  datastore.connectionEpoch = 'three';
  says('a');
  says('b');
  await rollCall.update();
  expect(['one', 'two'].map((epoch) => rollCall.recollect('x', epoch)?.isCertain)).toEqual([true, false]);
});

test('a worker that came and died while this process was suspended makes what was called unknown', async () => {
  const { datastore, present, rollCall, says } = await begun();
  vi.advanceTimersByTime(40_000);
  datastore.connectionEpoch = 'two';
  says('a');
  says('b');
  present.set('c', 20_000);
  await rollCall.update();
  vi.advanceTimersByTime(16_000);
  await rollCall.update();
  expect(rollCall.recollect('x', 'one')).toEqual({ testimony: undefined, isCertain: false });
});
