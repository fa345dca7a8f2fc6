import { expect, onTestFinished, test, vi } from 'vitest';
import { steadyNow } from '../../../src/base/async/clock.ts';
import { paceSeenBy } from '../../../src/engine/cluster/entries.ts';
import { publishedPace, workerEntry } from '../../helpers/cluster-entries.ts';

const pace = publishedPace();
const out = workerEntry({ outage: { reason: 'api is away: 503', testMs: 9_000 } });
const calling = workerEntry({ active: 2 });
const idle = workerEntry();

test.each([
  ['an outage that each worker with calls meets', [idle, out, { ...out, active: 1 }], true],
  ['the pace while another worker has calls', [out, calling], false],
  ['the pace of workers without an outage', [calling, idle], false],
  ['the pace without workers', [], false],
])('an API is called as its workers see it: %s', (_title, workers, isOut) => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const seen = paceSeenBy(workers, pace);
  if (!isOut) return expect(seen).toBe(pace);
  const waiting = { phase: 'waiting', restUntil: steadyNow() + 9_000 };
  expect(seen).toMatchObject({ ...waiting, reason: 'api is away: 503', accepted: 3 });
});

test('without a leading worker nothing is known of the pace', () => {
  expect(paceSeenBy([out], undefined)).toBeUndefined();
});
