import { expect, onTestFinished, test, vi } from 'vitest';
import { openEventFeed } from '../../../src/pages/server/feed.ts';

/** A feed of a changing value that counts its looks. */
function feedOf(value: { now: string }) {
  const look = vi.fn(async (_: readonly string[]) => (topic: string) => ({
    topic,
    changing: { is: value.now },
    unknown: undefined,
  }));
  const feed = openEventFeed<string>(look, 5);
  onTestFinished(() => feed.close());
  const listen = (topic: string) => {
    const heard: string[] = [];
    return { heard, stop: feed.listen({ topic, send: (changes) => void heard.push(changes) }) };
  };
  return { look, listen };
}

test('each listener gets everything once, and again what has changed', async () => {
  const value = { now: 'a' };
  const { look, listen } = feedOf(value);
  const early = listen('x');
  await expect.poll(() => early.heard.length).toBe(1);
  value.now = 'b';
  await expect.poll(() => early.heard.length).toBe(2);
  const late = listen('y');
  await expect.poll(() => late.heard.length).toBe(1);
  const looks = look.mock.calls.length;
  await expect.poll(() => look.mock.calls.length).toBeGreaterThan(looks + 3);
  expect([early.heard, late.heard]).toEqual([
    ['{"topic":"x","changing":{"is":"a"}}', '{"changing":{"is":"b"}}'],
    ['{"topic":"y","changing":{"is":"b"}}'],
  ]);
  expect(look).toHaveBeenLastCalledWith(['x', 'y']);
});

test('reads nothing while no page listens', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { look, listen } = feedOf({ now: 'a' });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(look).not.toHaveBeenCalled();
  const { heard, stop } = listen('x');
  await vi.advanceTimersByTimeAsync(100);
  expect(heard).toEqual(['{"topic":"x","changing":{"is":"a"}}']);
  const looks = look.mock.calls.length;
  expect(looks).toBeGreaterThan(1);
  stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(look).toHaveBeenCalledTimes(looks);
});

test('a listener that comes during a look gets the snapshot of the next one', async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const looks: (readonly string[])[] = [];
  const feed = openEventFeed<string>(async (topics) => {
    looks.push(topics);
    if (looks.length === 1) await held;
    return (topic) => ({ isKnown: topics.includes(topic) });
  }, 5);
  onTestFinished(() => feed.close());
  feed.listen({ topic: 'x', send: () => {} });
  await expect.poll(() => looks).toEqual([['x']]);
  const heard: string[] = [];
  feed.listen({ topic: 'y', send: (changes) => void heard.push(changes) });
  release();
  await expect.poll(() => heard).toEqual(['{"isKnown":true}']);
});
