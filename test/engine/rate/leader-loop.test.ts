import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../../src/base/async/clock.ts';
import type { PaceReport } from '../../../src/domain/pace.ts';
import type { TrafficReport } from '../../../src/engine/cluster/entries.ts';
import {
  type Beat,
  type Membership,
  rateCommandOf,
  type WorkerBeat,
} from '../../../src/engine/cluster/membership.ts';
import type { RatePolicy } from '../../../src/engine/cluster/rate-policy.ts';
import { LeaderLoop, type OwnCalls } from '../../../src/engine/rate/leader-loop.ts';
import { TrafficMeter } from '../../../src/engine/rate/traffic-meter.ts';
import { publishedPace } from '../../helpers/cluster-entries.ts';
import { answered, failing, tooMany } from '../worker/answers.ts';
import { gateOnTimeline } from './gate-on-timeline.ts';

const beatMs = 100;
const rows = 1_000;
const auto: RatePolicy = { text: 'auto', auto: true };
const fixed = (perSecond: number): RatePolicy => ({ text: `${perSecond}/s`, auto: false, perSecond });
/** A worker that leads these runs, each with its policy. */
const leads = (policies: Readonly<Record<string, RatePolicy | undefined>>) => ({
  leads: true,
  hasLed: true,
  hasRuns: true,
  rows,
  policies: new Map(Object.entries(policies)),
});
const leading = leads({ r: auto });
const noRuns = leads({});
const following = { ...noRuns, leads: false, hasLed: false };

/** A loop whose surroundings a test can change, and a record of what it did. */
function begin(known: Omit<Beat, 'reports'>) {
  const around = {
    known,
    others: new Map<string, TrafficReport>(),
    failure: undefined as Error | undefined,
    hasLead: true,
  };
  const did = {
    beats: [] as (WorkerBeat & { readonly wantsLead: boolean })[],
    decided: [] as (PaceReport & { readonly command: ReturnType<typeof rateCommandOf> })[],
    paces: [] as (PaceReport & { readonly own: OwnCalls })[],
    errors: [] as Error[],
    gaveUp: 0,
    established: false,
  };
  const membership: Membership = {
    async beat(heartbeat, wantsLead) {
      if (around.failure !== undefined) throw around.failure;
      did.beats.push({ ...heartbeat, wantsLead });
      const reports = new Map([['own', heartbeat.traffic], ...around.others]);
      const hasRun = around.known.policies.size > 0;
      return { ...around.known, leads: around.known.leads && (wantsLead || hasRun), reports };
    },
    async decide(pace) {
      if (around.hasLead) did.decided.push({ ...pace, command: rateCommandOf(pace) });
      return around.hasLead;
    },
    async giveUpLead() {
      if (around.hasLead) did.gaveUp += 1;
      return around.hasLead;
    },
    take: () => Promise.reject(new Error('the gate has a timeline of its own')),
    async leaveCluster() {},
  };
  const { gate } = gateOnTimeline({ cap: 1_000 });
  const meter = new TrafficMeter();
  const loop = new LeaderLoop({
    membership,
    meter,
    gate,
    facts: () => ({ finished: 7, concurrency: 5 }),
    onPace: (pace, own) => did.paces.push({ ...pace, own }),
    onError: (error) => did.errors.push(error),
  });
  void loop.established.then(() => {
    did.established = true;
  });
  return {
    around,
    did,
    gate,
    meter,
    beat: (beats = 1) => vi.advanceTimersByTimeAsync(beats * beatMs),
    /** Calls that get these answers. */
    call(...answers: Parameters<TrafficMeter['noteEnd']>[1][]): void {
      for (const answer of answers) meter.noteEnd(meter.noteSent(), answer);
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a worker that leads', () => {
  test('sets the rate that its governor wants, and tells the other workers', async () => {
    const { did, beat } = begin(leading);
    await beat();
    const [first] = did.decided;
    expect(first).toMatchObject({ phase: 'starting', accepted: 0, rejected: 0 });
    expect(first?.command).toEqual({ rate: first?.rate, cap: first?.concurrency, restMs: 0 });
    expect(did.paces[0]).toMatchObject({ phase: 'starting', rate: first?.rate });
    expect(did.established).toBe(true);
  });

  test.each([
    { others: 'a fixed rate', auto: false },
    { others: 'the limit of the API', auto: true },
  ])('names the run that holds back the others, which want $others', async ({ auto }) => {
    const { did, beat } = begin(leads({ slow: fixed(5), fast: { text: 'fast', auto, perSecond: 50 } }));
    await beat();
    const told = { rate: 5, reason: 'held to 5/s by run slow', boundBy: 'slow' };
    expect(did.decided.at(-1)).toMatchObject(told);
    expect(did.paces.at(-1)).toMatchObject(told);
  });

  test('applies no rate without a requested one, and still obeys rests', async () => {
    const { did, meter, beat, call } = begin(leads({ r: undefined }));
    await beat();
    expect(did.decided[0]?.command).toEqual({ rate: undefined, cap: 50, restMs: 0 });
    call(tooMany());
    meter.noteAskedWait(30_000);
    await beat();
    expect(did.decided.at(-1)?.command.restMs).toBeGreaterThan(29_000);
  });

  test('keeps to the limits of the strictest run until another run starts', async () => {
    const { around, did, beat } = begin(leads({ r: fixed(9) }));
    await beat();
    around.known = noRuns;
    await beat(10);
    expect(did.decided.at(-1)?.command.rate).toBe(9);
  });

  test('lowers the rate at once when a call is refused', async () => {
    const { did, beat, call } = begin(leading);
    await beat();
    const before = did.decided.length;
    call(...Array.from({ length: 10 }, () => tooMany()));
    await vi.advanceTimersByTimeAsync(0);
    expect(did.decided.length).toBeGreaterThan(before);
  });

  test('starts with the findings of the previous leader', async () => {
    const pace = publishedPace({ limit: 101, restUntil: steadyNow() + 60_000 });
    const { did, beat } = begin({ ...leading, pace });
    await beat();
    expect(did.decided[0]).toMatchObject({ limit: 101, reason: 'the API asks to wait' });
    expect(did.decided[0]?.command.restMs).toBeGreaterThan(59_000);
  });

  describe('told to wait for two hours', () => {
    const hours = 7_200_000;
    const waits = { waitMs: hours, waitBy: 'Retry-After: 7200' };
    const told = failing({ class: 'slow-down', code: 'RESOURCE_EXHAUSTED', status: 429, ...waits });

    async function resting(policy: RatePolicy) {
      const begun = begin(leads({ r: policy }));
      await begun.beat();
      begun.call(told);
      const refusedAt = steadyNow();
      // A worker that was told so, too, and does not hear of decisions.
      begun.around.others.set('other', {
        ...begun.meter.report(),
        get refusedAgoMs() {
          return steadyNow() - refusedAt;
        },
      });
      await begun.beat(2);
      const waiting = { restBy: 'Retry-After: 7200', reason: 'the API asks to wait' };
      expect(begun.did.decided.at(-1)).toMatchObject(waiting);
      expect(begun.gate.restMs).toBeGreaterThan(hours - 10_000);
      return begun;
    }

    test.each<[string, RatePolicy, RatePolicy]>([
      ['a rate', auto, fixed(5)],
      ['the same rate again', fixed(5), { ...fixed(5), setAt: '2026-01-01T00:00:00.000Z' }],
    ])(
      'calls at once when a user sets %s, and rests again when it is told so again',
      async (_, before, set) => {
        const { around, did, gate, beat, call } = await resting(before);
        around.known = leads({ r: set });
        await beat(2);
        expect(did.decided.at(-1)).toMatchObject({ rate: 5, reason: 'as requested', command: { restMs: 0 } });
        expect(gate.isResting).toBe(false);
        await beat(50);
        expect(gate.isResting).toBe(false);
        call(tooMany(90_000));
        await beat(2);
        expect(gate.restMs).toBeGreaterThan(80_000);
        expect(gate.restMs).toBeLessThan(90_000);
      },
    );

    test('tests with single calls after five minutes when another run starts', async () => {
      const { around, did, gate, beat } = await resting(auto);
      around.known = leads({ r: auto, another: auto });
      await beat(2);
      expect(gate.restMs).toBeGreaterThan(290_000);
      expect(gate.restMs).toBeLessThan(300_000);
      await vi.advanceTimersByTimeAsync(300_000);
      expect(gate.isResting).toBe(false);
      const single = { phase: 'waiting', rate: 1, command: { rate: 1, restMs: 0 } };
      expect(did.decided.at(-1)).toMatchObject(single);
    });
  });

  test('changes nothing after another worker took the lead', async () => {
    const { around, did, beat } = begin(leading);
    around.hasLead = false;
    await beat(3);
    expect([did.decided, did.paces]).toEqual([[], []]);
  });
});

describe('a worker that follows', () => {
  test('rests for as long as was decided', async () => {
    const pace = publishedPace({ restUntil: steadyNow() + 60_000 });
    const { around, gate, beat } = begin({ ...following, pace });
    await beat();
    expect(gate.isResting).toBe(true);
    around.known = { ...following, pace: publishedPace() };
    await beat(15);
    expect(gate.isResting).toBe(false);
  });

  test('makes no calls for a moment when a call is refused', async () => {
    const { gate, call, beat } = begin({ ...following, pace: publishedPace() });
    await beat();
    call(tooMany());
    let admittedAt = 0;
    void gate.reserve().then(() => {
      admittedAt = steadyNow();
    });
    const refusedAt = steadyNow();
    await beat(2);
    expect(admittedAt - refusedAt).toBeGreaterThanOrEqual(50);
  });

  test('takes over the findings of the former leader', async () => {
    const { around, did, beat } = begin({ ...following, pace: publishedPace({ limit: 101 }) });
    await beat();
    around.known = { ...leading, hasLed: false };
    await beat(15);
    expect(did.decided[0]).toMatchObject({ limit: 101, phase: 'holding' });
  });
});

test('one of hundreds of workers with rows beats less often, but at once after a refusal', async () => {
  const { did, gate, beat, call } = begin({ ...following, pace: publishedPace() });
  vi.spyOn(gate, 'callers', 'get').mockReturnValue(500);
  void gate.reserve();
  await beat(10);
  const before = did.beats.length;
  await beat(50);
  expect(did.beats).toHaveLength(before + 10);
  await beat(2);
  call(tooMany());
  expect(did.beats.at(-1)).toMatchObject({ traffic: { rejected: 1 } });
});

describe('a worker without rows', () => {
  const idle = { ...following, hasRuns: false, pace: publishedPace({ runs: [] }) };
  const leadingNone = { ...noRuns, hasRuns: false };

  test('beats rarely, and leaves the lead to others', async () => {
    const { did, beat } = begin(idle);
    await beat(50);
    expect(did.beats.length).toBeLessThanOrEqual(6);
    expect(did.beats.slice(1).some(({ wantsLead }) => wantsLead)).toBe(false);
  });

  test('beats at once when it gets a row, wants the lead, and beats quickly while it has the row', async () => {
    const { did, gate, beat } = begin(idle);
    await beat();
    const before = did.beats.length;
    void gate.reserve();
    expect(did.beats.slice(before)).toMatchObject([{ wantsLead: true }]);
    await beat(10);
    expect(did.beats).toHaveLength(before + 11);
    gate.release();
    await beat(50);
    expect(did.beats.length).toBeLessThanOrEqual(before + 17);
  });

  test('beats when a rest ends, so that it takes rows again', async () => {
    const pace = publishedPace({ restUntil: steadyNow() + 400 });
    const { did, gate, beat } = begin({ ...idle, pace });
    await beat();
    expect(gate.isResting).toBe(true);
    const paces = did.paces.length;
    await beat(3);
    expect([gate.isResting, did.paces.length > paces]).toEqual([false, true]);
  });

  test('gives up the lead when there is no run and no worker calls, and later continues where it stopped', async () => {
    const { around, did, beat, gate, call } = begin(leadingNone);
    await beat();
    call(answered());
    await beat(25);
    expect(did.gaveUp).toBe(0);
    await beat(10);
    expect(did.gaveUp).toBe(1);
    around.known = idle;
    await beat(20);
    around.known = leading;
    void gate.reserve();
    await beat();
    // A new rate controller knows of no call.
    expect(did.decided.at(-1)).toMatchObject({ accepted: 1 });
  });

  test.each([
    { why: 'a run is in progress', known: leading },
    { why: 'a run has lost its coordinator', known: noRuns },
  ])('keeps the lead while $why', async ({ known }) => {
    const { did, beat } = begin(known);
    await beat(60);
    expect([did.gaveUp, did.decided.length > 50]).toEqual([0, true]);
  });
});

describe('a worker', () => {
  test('continues after an error of the datastore', async () => {
    const { around, did, beat } = begin(leading);
    await beat();
    around.failure = new Error('away');
    await beat(2);
    expect(did.errors).toContain(around.failure);
    around.failure = undefined;
    const before = did.decided.length;
    await beat(2);
    expect(did.decided.length).toBeGreaterThan(before);
  });
});
