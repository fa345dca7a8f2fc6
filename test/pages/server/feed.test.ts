import { expect, onTestFinished, test, vi } from 'vitest';
import { openEventFeed } from '../../../src/pages/server/feed.ts';

/** A feed of a changing value that counts its looks. */
function feedOf(value: { now: string }) {
  const look = vi.fn(async (_: readonly string[]) => (topic: string) => ({
    same: { topic },
    changing: { is: value.now },
  }));
  const feed = openEventFeed<string>(look, 5);
  onTestFinished(() => feed.close());
  const listen = (topic: string) => {
    const heard: string[] = [];
    return {
      heard,
      stop: feed.listen({
        topic,
        send: (name, json) => heard.push(`${name} ${JSON.parse(json).is ?? ''}`.trim()),
      }),
    };
  };
  return { look, listen };
}

test('each listener gets each document once, and again when it has changed', async () => {
  const value = { now: 'a' };
  const { look, listen } = feedOf(value);
  const early = listen('x');
  await expect.poll(() => early.heard.length).toBe(2);
  value.now = 'b';
  await expect.poll(() => early.heard.length).toBe(3);
  const late = listen('y');
  await expect.poll(() => late.heard.length).toBe(2);
  const looks = look.mock.calls.length;
  await expect.poll(() => look.mock.calls.length).toBeGreaterThan(looks + 3);
  expect([early.heard, late.heard]).toEqual([
    ['same', 'changing a', 'changing b'],
    ['same', 'changing b'],
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
  expect(heard).toEqual(['same', 'changing a']);
  const looks = look.mock.calls.length;
  expect(looks).toBeGreaterThan(1);
  stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(look).toHaveBeenCalledTimes(looks);
});
