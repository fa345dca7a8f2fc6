import { expect, onTestFinished, test, vi } from 'vitest';
import { steadyNow } from '../../../src/base/async/clock.ts';
import { onlyMembership } from '../../../src/engine/cluster/membership.ts';

test('the only worker of an API gets its first slot as soon as it can use a slot', async () => {
  // Otherwise its rate could expire before it asks.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { decide, take } = onlyMembership(
    () => undefined,
    () => 2,
  );
  const pace = {
    rate: 20,
    isKept: true,
    concurrency: 50,
    refuses503: false,
    phase: 'starting',
    reason: '',
  } as const;
  await decide({ ...pace, accepted: 0, rejected: 0 });
  const asked = steadyNow();
  const request = { want: 2, need: 2, active: 0, aheadMs: 130, leadInMs: 10 };
  const { from, now, count } = await take(request);
  expect(count).toBe(2);
  expect(from).toBe(now + request.leadInMs);
  expect(now).toBeGreaterThanOrEqual(asked);
});
