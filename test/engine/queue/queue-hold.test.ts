import type { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { WaitReason } from '../../../src/base/errors/error-throttle.ts';
import { whyQueueHoldsBatches } from '../../../src/engine/queue/queue-hold.ts';

type Meta = Awaited<ReturnType<Queue['getMeta']>>;

function queueWith(meta: Partial<Meta>, active = 0, prefix = '{cqbatch}') {
  return {
    getMeta: async () => meta as Meta,
    toKey: (type: string) => `${prefix}:rows-1:${type}`,
    getActiveCount: async () => active,
  };
}

test.each<[string, Partial<Meta>, number, string]>([
  ['paused', { paused: true }, 0, 'is paused in Redis, .*HDEL "{cqbatch}:rows-1:meta" paused$'],
  ['bounded to one job at a time', { concurrency: 1 }, 1, 'hands out 1 at a time, .* concurrency$'],
  ['bounded to a rate', { max: 2, duration: 1_000 }, 0, 'at most 2 batches each 1000 ms, .* max duration$'],
])('a queue that is %s is named, with the command that ends it', async (_how, meta, active, reason) => {
  const hold = await whyQueueHoldsBatches(queueWith(meta, active), async () => 3);
  expect(hold).toBeInstanceOf(WaitReason);
  expect(hold?.message).toMatch(new RegExp(reason));
});

test.each<[string, Partial<Meta>, number, number]>([
  ['without a bound', {}, 0, 3],
  ['when no batch waits', { paused: true }, 0, 0],
  ['below its bound', { concurrency: 2 }, 1, 3],
  ['with half a rate', { max: 2 }, 0, 3],
])('a queue %s is not held', async (_how, meta, active, waiting) => {
  expect(await whyQueueHoldsBatches(queueWith(meta, active), async () => waiting)).toBeUndefined();
});

test('a prefix that a shell would read otherwise is quoted', async () => {
  const hold = await whyQueueHoldsBatches(queueWith({ paused: true }, 0, '{$HOME}'), async () => 1);
  expect(hold?.message).toContain(`HDEL '{$HOME}:rows-1:meta' paused`);
});
