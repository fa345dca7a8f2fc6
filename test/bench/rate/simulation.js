// @ts-check
import { statedLimits } from '../../../dist/src/engine/api/limits.js';
import { waitingTime } from '../../../dist/src/engine/api/waiting-time.js';
import { RateController } from '../../../dist/src/engine/rate/rate-controller.js';
import { limiterOf, SimulatedApi } from './simulated-api.js';
import { SimulatedClient } from './simulated-client.js';

/** @typedef {import('./world.ts').Second} Second */
/** @typedef {import('../../../src/engine/rate/governor/traffic.ts').Traffic} Traffic */
/** @typedef {{ -readonly [Key in keyof Traffic]: Traffic[Key] }} Report */

/** When a simulation begins: with a day. */
const epoch = 1_800_057_600_000;
/** How often the governor gets reports of calls. */
const reportEveryMs = 100;
/** @type {readonly never[]} */
const noCalls = [];

/**
 * Lets a governed client call a limited API in simulated time, and reports each second. Everything happens at whole
 * milliseconds; those without an event are skipped.
 *
 * @type {import('./world.ts').Simulate}
 */
export const simulate = (world) => {
  const { workers = 1, startAt = 0, rows = Number.POSITIVE_INFINITY } = world;
  const random = randomFrom(world.seed ?? 1);
  const begin = epoch + startAt;
  const end = begin + world.seconds * 1_000;
  const api = new SimulatedApi(world, begin, random);
  const client = new SimulatedClient(world, begin, random);
  const controller = new RateController(begin, world.known ?? {});
  const policy = { auto: world.fixed === undefined, perSecond: world.fixed };
  const alone = workers === 1;
  let leader = 'worker-0';
  const decide = (/** @type {Report} */ met, /** @type {number} */ now) =>
    controller.update(now, met, policy, workers, rows - finished);
  const apply = (/** @type {ReturnType<typeof decide>} */ pace, /** @type {number} */ now) => {
    const { during, rate = 0 } = world.otherLeader ?? {};
    if (api.within(during, now)) client.setRate(now, 'other', { ...pace, rate });
    leader = world.leaderAt?.((now - begin) / 1_000) ?? leader;
    if (leader !== '') client.setRate(now, leader, pace);
  };
  let finished = 0;
  let pace = decide(nothing(workers), begin);
  apply(pace, begin);
  client.exchange(pace);
  /** @type {{ since: number, pace: ReturnType<typeof decide> }[]} */
  const coming = [];
  /** @type {(import('./simulated-api.js').Call & { worker: number, seenAmong: number })[]} */
  let flight = [];
  let nextEnd = Number.POSITIVE_INFINITY;
  const seconds = Array.from(
    { length: world.seconds },
    () => /** @type {Second} */ ({ accepted: 0, rejected: 0, doubtful: 0 }),
  );
  let report = nothing(workers);
  let reportedAt = begin;

  for (let now = begin; now < end; ) {
    const second = Math.floor((now - begin) / 1_000);
    const counted = /** @type {Second} */ (seconds[second]);

    const ended = nextEnd > now ? noCalls : flight.filter((call) => call.end <= now);
    if (ended.length > 0) {
      flight = flight.filter((call) => call.end > now);
      nextEnd = Number.POSITIVE_INFINITY;
      for (const { end } of flight) if (end < nextEnd) nextEnd = end;
    }
    let urgent = false;
    for (const call of ended) {
      call.release?.();
      for (const stated of statedLimits(call.headers, now))
        report.stated = [...report.stated.filter(({ name }) => name !== stated.name), stated];
      const wait = call.outcome === 'rejected' ? waitingTime(call.headers, [], now)?.ms : undefined;
      const waitMs = world.retryAfter || world.noiseWaits ? wait : undefined;
      if (waitMs !== undefined) report.waitUntil = Math.max(report.waitUntil ?? 0, now + waitMs);
      const kind = client.ended(call, waitMs, now);
      tell(report, call, kind, now);
      if (kind === 'accepted') finished++;
      if (kind === 'unavailable') counted.doubtful++;
      if (kind !== 'rejected') continue;
      urgent = alone;
      client.refused(call.worker, now + (waitMs ?? 0), now);
    }
    if (urgent || now - reportedAt >= reportEveryMs) {
      report.active = flight.length;
      coming.push({ since: alone ? now : now + reportEveryMs / 2, pace: decide(report, now) });
      report = nothing(workers);
      reportedAt = now;
    }
    for (let next = coming[0]; next !== undefined && next.since <= now; next = coming[0]) {
      pace = next.pace;
      apply(pace, now);
      client.exchange(pace);
      coming.shift();
    }
    counted.pace = pace;

    const idleUntil = world.idle && api.within(world.idle, now) ? begin + world.idle[1] * 1_000 : 0;
    const { calls, next } = client.step(now, idleUntil);
    for (const { worker, among } of calls) {
      const call = api.call(now, flight.length + 1);
      flight.push(Object.assign(call, { worker, seenAmong: among }));
      nextEnd = Math.min(nextEnd, call.end);
      counted[call.outcome]++;
      world.onCall?.(now - begin, worker);
    }

    const heardAt = coming[0]?.since ?? Number.POSITIVE_INFINITY;
    now = Math.max(now + 1, Math.ceil(Math.min(nextEnd, reportedAt + reportEveryMs, next, heardAt)));
  }
  return seconds;
};

/**
 * How many calls succeed in each second for a client that knows the limit and uses all of it.
 *
 * @type {import('./world.ts').Ideal}
 */
export const ideal = (world) => {
  const { limit, seconds, latencyMs = 50, startAt = 0, capacity = 2_000, server, others } = world;
  const limiter = limiterOf(limit);
  const served = server === undefined ? capacity : (server.threads * 1_000) / server.serviceMs;
  const begin = epoch + startAt;
  /** @type {{ end: number, release: () => void }[]} */
  let flight = [];
  const accepted = Array.from({ length: seconds }, () => 0);
  for (let now = begin; now < begin + seconds * 1_000; now++) {
    if (flight.some(({ end }) => end <= now)) {
      for (const { end, release } of flight) if (end <= now) release();
      flight = flight.filter(({ end }) => end > now);
    }
    const second = Math.floor((now - begin) / 1_000);
    const most = (Math.min(capacity, served) * (now - begin - second * 1_000 + 1)) / 1_000;
    while ((accepted[second] ?? 0) < most) {
      const admission = limiter.admit(now, 'token');
      if (!admission.isAdmitted) break;
      accepted[second] = (accepted[second] ?? 0) + 1;
      if (admission.release) flight.push({ end: now + latencyMs, release: admission.release });
    }
  }
  return accepted.map((calls, second) => {
    const taken = others && second >= others.during[0] && second < others.during[1] ? others.perSecond : 0;
    return Math.max(0, calls - taken);
  });
};

/**
 * @param {Report} report
 * @param {import('./simulated-api.js').Call & { seenAmong: number }} call
 * @param {'accepted' | 'rejected' | 'unavailable'} kind
 * @param {number} now
 */
function tell(report, { status, sentAt, seenAmong }, kind, now) {
  if (kind === 'accepted') {
    report.accepted++;
    report.durationMs += now - sentAt;
    report.acceptedAmong = Math.max(report.acceptedAmong ?? 0, seenAmong);
    return;
  }
  // A worker that has not heard of the others' latest calls counts too few; another one may know better.
  const pick = report.amongError === 1 ? Math.min : Math.max;
  report.rejectedAmong = pick(report.rejectedAmong ?? seenAmong, seenAmong);
  if (kind === 'unavailable') {
    report.unavailable = (report.unavailable ?? 0) + 1;
    return;
  }
  report.rejected++;
  report.rejectedWith = status;
  report.rejectedSentAt = Math.max(report.rejectedSentAt ?? 0, sentAt);
}

/**
 * @param {number} workers
 * @returns {Report}
 */
function nothing(workers) {
  return { accepted: 0, rejected: 0, durationMs: 0, active: 0, amongError: workers, stated: [] };
}

/** @param {number} seed */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
