import { describe, expect, test } from 'vitest';
import type { TrafficReport } from '../../../src/engine/cluster/entries.ts';
import { CallCounts } from '../../../src/engine/rate/call-counts.ts';
import { stated } from '../worker/answers.ts';

const now = 1_000_000;
const nothing: TrafficReport = { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };

/** A ledger to which workers report by name; these are known from before anything happened. */
function ledgerOf(...workers: readonly string[]) {
  const ledger = new CallCounts();
  const add = (reports: Readonly<Record<string, Partial<TrafficReport>>>, at = now, since?: number) => {
    const whole = Object.entries(reports).map(
      ([worker, report]) => [worker, { ...nothing, ...report }] as const,
    );
    return ledger.add(at, new Map(whole), since);
  };
  add(Object.fromEntries(workers.map((worker) => [worker, {}])));
  return { add, sums: () => [ledger.accepted, ledger.rejected] };
}

describe('what is new', () => {
  test('is the longest wait, with what asks for it, of answers to calls since a time', () => {
    const reports = {
      a: { waitMs: 90_000, waitBy: 'Retry-After: 90', refusedAgoMs: 100 },
      b: { waitMs: 7_200_000, waitBy: 'Retry-After: 7200', refusedAgoMs: 5_000 },
      c: { waitMs: 100 },
    };
    const told = (since?: number) => {
      const { waitUntil, waitBy } = ledgerOf('a', 'b').add(reports, now, since);
      return { waitUntil, waitBy };
    };
    expect(told()).toEqual({ waitUntil: now + 7_200_000, waitBy: 'Retry-After: 7200' });
    expect(told(now - 1_000)).toEqual({ waitUntil: now + 90_000, waitBy: 'Retry-After: 90' });
    expect(told(now)).toEqual({ waitUntil: now + 100 });
  });

  test('is the difference to the last report, added up over all workers', () => {
    const { add, sums } = ledgerOf('a', 'b');
    add({
      a: { accepted: 10, rejected: 1, durationMs: 100, active: 3 },
      b: { accepted: 20, rejected: 2, durationMs: 200, active: 4 },
    });
    const traffic = add({
      a: { accepted: 15, rejected: 1, durationMs: 150, active: 1 },
      b: { accepted: 22, rejected: 5, unavailable: 4, durationMs: 220, active: 2 },
    });
    expect(traffic).toMatchObject({ accepted: 7, rejected: 3, unavailable: 4, durationMs: 70, active: 3 });
    expect(sums()).toEqual([41, 6]);
  });

  test('is nothing when a worker says the same again', () => {
    const { add } = ledgerOf('a');
    const reports = { a: { accepted: 10, rejected: 1, refusedAgoMs: 5, rejectedAmong: 3 } };
    add(reports);
    const traffic = add(reports);
    expect(traffic).toMatchObject({ accepted: 0, rejected: 0 });
    expect([traffic.rejectedSentAt, traffic.rejectedAmong]).toEqual([undefined, undefined]);
  });

  test('of a worker that is first seen is not its past', () => {
    const { add } = ledgerOf('a');
    const newcomer = { accepted: 1_000, rejected: 100, durationMs: 5_000, active: 9, refusedAgoMs: 1 };
    const traffic = add({ a: { accepted: 1 }, b: newcomer });
    expect(traffic).toMatchObject({ accepted: 1, rejected: 0, durationMs: 0, active: 9 });
    expect(traffic.rejectedSentAt).toBeUndefined();
    const next = add({ b: { ...newcomer, accepted: 1_001, rejected: 101 } });
    expect(next).toMatchObject({ accepted: 1, rejected: 1, rejectedSentAt: now - 1 });
  });

  test('of a worker that was away does not include what it met with meanwhile', () => {
    const { add, sums } = ledgerOf('a');
    add({});
    expect(add({ a: { accepted: 50 } })).toMatchObject({ accepted: 0 });
    expect(add({ a: { accepted: 51, rejected: 1 } })).toMatchObject({ accepted: 1, rejected: 1 });
    add({});
    expect(sums()).toEqual([1, 1]);
  });
});

describe('the moment of a refusal', () => {
  test.each([
    ['is when the latest one was sent', { rejected: 1, refusedAgoMs: 20 }, 20],
    ['is reported by the workers whose calls were refused', { refusedAgoMs: 20 }, 500],
    ['may be now', { rejected: 1, refusedAgoMs: 0 }, 0],
  ])('%s', (_title, other, ago) => {
    const traffic = ledgerOf('a', 'b').add({ a: { rejected: 1, refusedAgoMs: 500 }, b: other });
    expect(traffic.rejectedSentAt).toBe(now - ago);
  });
});

describe('the calls in flight', () => {
  test('are the most when one was accepted, and the most of what the workers report for rejected calls', () => {
    const traffic = ledgerOf('a', 'b', 'c').add({
      a: { accepted: 1, rejected: 1, acceptedAmong: 5, rejectedAmong: 8 },
      // Knows the latest calls of the other workers; each reports the fewest of its own.
      b: { accepted: 1, rejected: 1, acceptedAmong: 7, rejectedAmong: 9 },
      c: { accepted: 1, acceptedAmong: 1 },
    });
    expect(traffic).toMatchObject({ acceptedAmong: 7, rejectedAmong: 9 });
  });

  test.each(['rejected', 'unavailable'])(
    'of a call that is %s are reported by workers that met one since the last report',
    (kind) => {
      const { add } = ledgerOf('a', 'b');
      const before = { rejected: 1, rejectedAmong: 9 };
      add({ a: before, b: {} });
      expect(add({ a: before, b: { [kind]: 1, rejectedAmong: 4 } }).rejectedAmong).toBe(4);
    },
  );
});

test('what the API states is collected from all workers, and counts once', () => {
  const { add } = ledgerOf('a', 'b', 'idle');
  const reports = {
    a: { accepted: 1, stated: [stated('second', 5)] },
    b: { rejected: 1, stated: [stated('second', 4), stated('minute', 40)] },
    idle: { stated: [stated('second', 9)] },
  };
  expect(add(reports).stated).toEqual([stated('second', 5), stated('second', 4), stated('minute', 40)]);
  expect(add(reports, now + 250).stated).toEqual([]);
});
