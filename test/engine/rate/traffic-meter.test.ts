import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ApiAnswer } from '../../../src/engine/api/client.ts';
import { TrafficMeter } from '../../../src/engine/rate/traffic-meter.ts';
import {
  answered,
  failing,
  refusedConnection,
  stated,
  tooMany,
  unavailable,
  unavailableFor,
} from '../worker/answers.ts';

/** A meter after these answers, one call after the other. */
function metered(...answers: readonly ApiAnswer[]): TrafficMeter {
  return knowing(false, ...answers);
}

/** The same, that knows whether 503s are refusals. */
function knowing(refuses503: boolean, ...answers: readonly ApiAnswer[]): TrafficMeter {
  const meter = new TrafficMeter();
  meter.refuses503 = refuses503;
  meter.onRefused = vi.fn();
  for (const answer of answers) meter.noteEnd(meter.noteSent(), answer);
  return meter;
}

function counted(meter: TrafficMeter) {
  const { accepted, rejected } = meter.report();
  return { accepted, rejected };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Kind = 'accepted' | 'rejected' | 'neither';

test.each<[string, ApiAnswer, Kind]>([
  ['that succeeds is', answered(), 'accepted'],
  ['that breaks the server (500) is', failing({ class: 'retry', status: 500 }), 'accepted'],
  ['whose answer breaks off is', failing({ code: 'ANSWER_CUT_OFF', status: 200 }), 'accepted'],
  ['that meets a 503, which may be an accident, is', unavailable, 'neither'],
  ['that the API refuses (429) is', tooMany(), 'rejected'],
  ['that meets a 503 with a waiting time is', unavailableFor(1_000), 'rejected'],
  ['that is refused a connection is', refusedConnection, 'neither'],
  ['that gets no answer in time is', failing({ code: 'TOTAL_TIMEOUT', unclear: true }), 'neither'],
  ['that is stopped is', failing({ class: 'aborted', code: 'INTERRUPTED' }), 'neither'],
])(
  'a call %s $2, and only a rejected one is told to the listener, when it is counted',
  (_title, answer, kind) => {
    const told: (readonly [rejected: number, active: number, waitMs: number | undefined])[] = [];
    const meter = new TrafficMeter();
    meter.onRefused = () => {
      const { rejected, active, waitMs } = meter.report();
      told.push([rejected, active, waitMs]);
    };
    meter.noteEnd(meter.noteSent(), answer);
    expect(counted(meter)).toEqual({
      accepted: Number(kind === 'accepted'),
      rejected: Number(kind === 'rejected'),
    });
    expect(meter.active).toBe(0);
    const waitMs = answer.ok ? undefined : answer.failure.waitMs;
    expect(told).toEqual(kind === 'rejected' ? [[1, 0, waitMs]] : []);
  },
);

test('a call in which the client itself failed is over, and says nothing', () => {
  const meter = new TrafficMeter();
  meter.noteEnd(meter.noteSent(), undefined);
  expect(meter.report()).toEqual(new TrafficMeter().report());
});

describe('calls that meet a 503', () => {
  test('are counted separately, however many there are, and cause no rest', () => {
    const meter = knowing(false, unavailable, unavailable, unavailable, unavailable, answered());
    expect(meter.report()).toMatchObject({ accepted: 1, rejected: 0, unavailable: 4, acceptedAmong: 1 });
    expect(meter.onRefused).not.toHaveBeenCalled();
  });

  test('are refusals, each on its own, once they are known to depend on the rate', () => {
    const meter = knowing(true, answered(), unavailable);
    expect(meter.report()).toMatchObject({ accepted: 1, rejected: 1, unavailable: 0, refusedWith: 503 });
    expect(meter.onRefused).toHaveBeenCalledOnce();
  });
});

describe('a report', () => {
  test('adds up how long accepted calls took, and no others', () => {
    const meter = metered(
      answered({ durationMs: 10 }),
      failing({ status: 404 }, { durationMs: 20 }),
      tooMany(),
      failing({ code: 'TOTAL_TIMEOUT' }, { durationMs: 60_000 }),
    );
    expect(meter.report()).toMatchObject({ durationMs: 30 });
  });

  test('says how long ago the latest of the rejected calls was sent', () => {
    const meter = new TrafficMeter();
    const first = meter.noteSent();
    vi.advanceTimersByTime(100);
    const second = meter.noteSent();
    vi.advanceTimersByTime(50);
    vi.setSystemTime(Date.now() - 3_600_000);
    meter.noteEnd(second, tooMany());
    meter.noteEnd(first, tooMany());
    meter.noteEnd(meter.noteSent(), answered());
    expect(meter.report().refusedAgoMs).toBe(50);
    vi.advanceTimersByTime(10);
    expect(meter.report().refusedAgoMs).toBe(60);
  });

  test('says how long the API still asks to wait, the longest that it asked for', () => {
    const meter = metered(tooMany(5_000), tooMany(1_000), tooMany());
    vi.advanceTimersByTime(2_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(meter.report().waitMs).toBe(3_000);
    vi.advanceTimersByTime(2_999);
    expect(meter.report().waitMs).toBe(1);
    vi.advanceTimersByTime(1);
    expect(meter.report().waitMs).toBeUndefined();
  });

  test.each([
    ['was rejected', tooMany()],
    ['was answered with 503', unavailable],
  ])(
    'reports the most calls in flight when one was accepted, and the fewest when one %s',
    (_title, third) => {
      const meter = new TrafficMeter();
      const calls = Array.from({ length: 4 }, () => meter.noteSent());
      const answers = [answered(), answered(), third, tooMany()];
      for (const [index, call] of calls.entries()) meter.noteEnd(call, answers[index] ?? answered());
      expect(meter.report()).toMatchObject({ acceptedAmong: 2, rejectedAmong: 3 });
      expect(meter.report()).not.toMatchObject({ acceptedAmong: 2 });
    },
  );

  test('counts the calls in flight of other processes with those of this one', () => {
    const meter = new TrafficMeter();
    meter.elsewhere = () => 10;
    const first = meter.noteSent();
    meter.elsewhere = () => 20;
    const second = meter.noteSent();
    meter.noteEnd(first, answered());
    meter.noteEnd(second, tooMany());
    expect(meter.report()).toMatchObject({ active: 0, acceptedAmong: 11, rejectedAmong: 22 });
  });
});

describe('what the API states', () => {
  test('is bounded, however many names the server invents', () => {
    const meter = new TrafficMeter();
    for (let name = 0; name < 1_000; name += 1)
      meter.noteEnd(meter.noteSent(), answered({ limits: [stated(`limit-${name}`, 1)] }));
    meter.noteEnd(meter.noteSent(), answered({ limits: [stated('limit-0', 0)] }));
    const limits = meter.report().stated;
    expect(limits).toHaveLength(16);
    expect(limits[0]).toEqual(stated('limit-0', 0));
    expect(meter.report().stated).toEqual([]);
  });
});

test('calls in flight are counted, and the age of the oldest one comes from a clock that never jumps', () => {
  const meter = new TrafficMeter();
  expect(meter.inFlight).toBeUndefined();
  const first = meter.noteSent();
  vi.advanceTimersByTime(3_000);
  const second = meter.noteSent();
  vi.advanceTimersByTime(2_000);
  vi.setSystemTime(new Date(0));
  expect(meter.inFlight).toEqual({ calls: 2, oldestMs: 5_000 });
  meter.noteEnd(first, answered());
  expect(meter.inFlight).toEqual({ calls: 1, oldestMs: 2_000 });
  meter.noteEnd(second, undefined);
  expect(meter.inFlight).toBeUndefined();
});
