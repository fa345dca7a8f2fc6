import { describe, expect, test } from 'vitest';
import type { TrafficReport } from '../../../src/engine/cluster/entries.ts';
import { CallCounts } from '../../../src/engine/rate/call-counts.ts';
import { stated } from '../worker/answers.ts';

const now = 1_000_000;

function report(changes: Partial<TrafficReport> = {}): TrafficReport {
  return { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [], ...changes };
}

/** A ledger that knows these workers from before anything happened. */
function ledgerOf(...workers: readonly string[]): CallCounts {
  const ledger = new CallCounts();
  ledger.add(now, new Map(workers.map((worker) => [worker, report()])));
  return ledger;
}

describe('what is new', () => {
  test('is nothing without workers', () => {
    expect(new CallCounts().add(now, new Map())).toEqual({
      accepted: 0,
      rejected: 0,
      unavailable: 0,
      durationMs: 0,
      active: 0,
      stated: [],
    });
  });

  test('is the longest wait, with what asks for it, of answers to calls since a time', () => {
    const long = report({ waitMs: 7_200_000, waitBy: 'Retry-After: 7200', refusedAgoMs: 5_000 });
    const short = report({ waitMs: 90_000, waitBy: 'Retry-After: 90', refusedAgoMs: 100 });
    const reports = new Map([
      ['a', short],
      ['b', long],
    ]);
    expect(ledgerOf('a', 'b').add(now, reports)).toMatchObject({
      waitUntil: now + 7_200_000,
      waitBy: 'Retry-After: 7200',
    });
    expect(ledgerOf('a', 'b').add(now, reports, now - 1_000)).toMatchObject({
      waitUntil: now + 90_000,
      waitBy: 'Retry-After: 90',
    });
    expect(ledgerOf('a', 'b').add(now, reports, now).waitUntil).toBeUndefined();
  });

  test('is the difference to the last report, added up over all workers', () => {
    const ledger = ledgerOf('a', 'b');
    ledger.add(
      now,
      new Map([
        ['a', report({ accepted: 10, rejected: 1, durationMs: 100, active: 3 })],
        ['b', report({ accepted: 20, rejected: 2, durationMs: 200, active: 4 })],
      ]),
    );
    const traffic = ledger.add(
      now,
      new Map([
        ['a', report({ accepted: 15, rejected: 1, durationMs: 150, active: 1 })],
        ['b', report({ accepted: 22, rejected: 5, unavailable: 4, durationMs: 220, active: 2 })],
      ]),
    );
    expect(traffic).toMatchObject({ accepted: 7, rejected: 3, unavailable: 4, durationMs: 70, active: 3 });
    expect([ledger.accepted, ledger.rejected]).toEqual([41, 6]);
  });

  test('is nothing when a worker says the same again', () => {
    const ledger = ledgerOf('a');
    const reports = new Map([
      ['a', report({ accepted: 10, rejected: 1, refusedAgoMs: 5, rejectedAmong: 3 })],
    ]);
    ledger.add(now, reports);
    const traffic = ledger.add(now, reports);
    expect(traffic).toMatchObject({ accepted: 0, rejected: 0 });
    expect([traffic.rejectedSentAt, traffic.rejectedAmong]).toEqual([undefined, undefined]);
  });

  test('of a worker that is first seen is not its past', () => {
    const ledger = ledgerOf('a');
    const newcomer = report({
      accepted: 1_000,
      rejected: 100,
      durationMs: 5_000,
      active: 9,
      refusedAgoMs: 1,
    });
    const traffic = ledger.add(
      now,
      new Map([
        ['a', report({ accepted: 1 })],
        ['b', newcomer],
      ]),
    );
    expect(traffic).toMatchObject({ accepted: 1, rejected: 0, durationMs: 0, active: 9 });
    expect(traffic.rejectedSentAt).toBeUndefined();
    const next = ledger.add(now, new Map([['b', { ...newcomer, accepted: 1_001, rejected: 101 }]]));
    expect(next).toMatchObject({ accepted: 1, rejected: 1, rejectedSentAt: now - 1 });
  });

  test('of a worker that was away does not include what it met with meanwhile', () => {
    const ledger = ledgerOf('a');
    ledger.add(now, new Map());
    expect(ledger.add(now, new Map([['a', report({ accepted: 50 })]]))).toMatchObject({ accepted: 0 });
    expect(ledger.add(now, new Map([['a', report({ accepted: 51 })]]))).toMatchObject({ accepted: 1 });
    expect(ledger.accepted).toBe(1);
  });

  test('stays known after a worker has gone', () => {
    const ledger = ledgerOf('a');
    ledger.add(now, new Map([['a', report({ accepted: 5, rejected: 1 })]]));
    ledger.add(now, new Map());
    expect([ledger.accepted, ledger.rejected]).toEqual([5, 1]);
  });
});

describe('the moment of a refusal', () => {
  test.each([
    [
      'is when the latest one was sent',
      [report({ rejected: 1, refusedAgoMs: 500 }), report({ rejected: 1, refusedAgoMs: 20 })],
      20,
    ],
    [
      'is reported by the workers whose calls were refused',
      [report({ rejected: 1, refusedAgoMs: 500 }), report({ refusedAgoMs: 20 })],
      500,
    ],
    ['may be now', [report({ rejected: 1, refusedAgoMs: 0 }), report()], 0],
  ])('%s', (_title, reports, ago) => {
    const traffic = ledgerOf('0', '1').add(now, new Map(reports.map((one, index) => [`${index}`, one])));
    expect(traffic.rejectedSentAt).toBe(now - ago);
  });
});

describe('a wait', () => {
  test('ends with the longest wait that a worker was asked for', () => {
    const reports = new Map([
      ['a', report({ waitMs: 100 })],
      ['b', report({ waitMs: 5_000 })],
      ['c', report()],
    ]);
    expect(new CallCounts().add(now, reports).waitUntil).toBe(now + 5_000);
  });

  test('does not exist when no worker was asked to wait', () => {
    expect(new CallCounts().add(now, new Map([['a', report()]])).waitUntil).toBeUndefined();
  });
});

describe('the calls in flight', () => {
  test('are the most when one was accepted, and the most of what the workers report for rejected calls', () => {
    const traffic = ledgerOf('a', 'b', 'c').add(
      now,
      new Map([
        ['a', report({ accepted: 1, rejected: 1, acceptedAmong: 5, rejectedAmong: 8 })],
        // Knows the latest calls of the other workers; each reports the fewest of its own.
        ['b', report({ accepted: 1, rejected: 1, acceptedAmong: 7, rejectedAmong: 9 })],
        ['c', report({ accepted: 1, acceptedAmong: 1 })],
      ]),
    );
    expect(traffic).toMatchObject({ acceptedAmong: 7, rejectedAmong: 9 });
  });

  test.each(['rejected', 'unavailable'])(
    'of a call that is %s are reported by workers that met one since the last report',
    (kind) => {
      const ledger = ledgerOf('a', 'b');
      const before = report({ rejected: 1, rejectedAmong: 9 });
      ledger.add(
        now,
        new Map([
          ['a', before],
          ['b', report()],
        ]),
      );
      const traffic = ledger.add(
        now,
        new Map([
          ['a', before],
          ['b', report({ [kind]: 1, rejectedAmong: 4 })],
        ]),
      );
      expect(traffic.rejectedAmong).toBe(4);
    },
  );
});

test('what the API states is collected from all workers, and counts once', () => {
  const ledger = new CallCounts();
  ledger.add(
    now,
    new Map([
      ['a', report({})],
      ['b', report({})],
      ['idle', report({})],
    ]),
  );
  const reports = new Map([
    ['a', report({ accepted: 1, stated: [stated('second', 5)] })],
    ['b', report({ rejected: 1, stated: [stated('second', 4), stated('minute', 40)] })],
    ['idle', report({ stated: [stated('second', 9)] })],
  ]);
  expect(ledger.add(now, reports).stated).toEqual([
    stated('second', 5),
    stated('second', 4),
    stated('minute', 40),
  ]);
  expect(ledger.add(now + 250, reports).stated).toEqual([]);
});
