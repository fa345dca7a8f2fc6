// @ts-check
import { SimulatedApi } from './simulated-api.js';

/** @typedef {import('./world.ts').Second} Second */
/** @typedef {import('../../../src/governor/traffic.ts').Traffic} Traffic */
/** @typedef {{ -readonly [Key in keyof Traffic]: Traffic[Key] }} Report */

/** The beginning of a day. */
const epoch = 1_800_057_600_000;
/** Workers start what a window of the rate allows a little late, so that they use somewhat less than they may. */
const accuracy = 0.985;
/** How far the start of a call is from its time. */
const jitterMs = 4;
/** A worker that could not start calls in time makes up for no more than so much. */
const madeUpMs = 20;
const reportEveryMs = 100;

/**
 * Lets a governed client call a limited API in simulated time, and tells of each second. Everything happens at whole
 * milliseconds; those in which nothing does are skipped.
 *
 * @type {import('./world.ts').Simulate}
 */
export const simulate = (parts, world) => {
  const { latencyMs = 50, feedbackMs = 0, capacity = 2_000, blur = 0, startAt = 0 } = world;
  const random = randomFrom(world.seed ?? 1);
  const begin = epoch + startAt;
  const end = begin + world.seconds * 1_000;
  const api = new SimulatedApi(parts, { ...world, latencyMs }, begin, random);
  const governor = parts.createGovernor(begin, {
    concurrency: { start: 50, most: world.most ?? 200 },
    ...(world.learned && { learned: world.learned }),
    ...(world.bound !== undefined && { bound: world.bound }),
  });
  let pace = governor.update(begin, nothing());
  /** @type {{ since: number, pace: typeof pace }[]} */
  const coming = [];
  /** @type {import('./simulated-api.js').Call[]} */
  let flight = [];
  const seconds = Array.from(
    { length: world.seconds },
    () => /** @type {Second} */ ({ accepted: 0, rejected: 0, unreachable: 0 }),
  );
  let report = nothing();
  let reportedAt = begin;
  let nextCall = begin;

  const blurred = (/** @type {number} */ among) =>
    blur === 0 ? among : Math.max(1, among + Math.round((random() * 2 - 1) * blur));

  for (let now = begin; now < end; ) {
    const second = Math.floor((now - begin) / 1_000);
    const counted = /** @type {Second} */ (seconds[second]);
    if (world.laterBound && second >= world.laterBound[0]) governor.bound = world.laterBound[1];

    const ended = flight.filter((call) => call.end <= now);
    if (ended.length > 0) flight = flight.filter((call) => call.end > now);
    for (const call of ended) {
      call.release?.();
      tell(report, call, blurred(call.among), now);
      for (const stated of parts.statedLimits(call.headers, now))
        report.stated = [...report.stated.filter(({ name }) => name !== stated.name), stated];
      const wait = call.outcome === 'rejected' ? parts.waitingTime(call.headers, undefined, now) : undefined;
      if (world.retryAfter && wait !== undefined)
        report.waitUntil = Math.max(report.waitUntil ?? 0, now + wait);
    }
    const urgent = feedbackMs === 0 && ended.some(({ outcome }) => outcome !== 'accepted');
    if (urgent || now - reportedAt >= (feedbackMs || reportEveryMs)) {
      report.active = flight.length;
      if (blur > 0) report.amongError = blur;
      coming.push({ since: now + feedbackMs / 2, pace: governor.update(now, report) });
      report = nothing();
      reportedAt = now;
    }
    for (let next = coming[0]; next !== undefined && next.since <= now; next = coming[0]) {
      pace = next.pace;
      coming.shift();
    }
    counted.pace = pace;

    // A stated rate is asked for so that it comes to what is wanted (src/worker/rate-trim.ts).
    const reached = pace.phase === 'stated' ? 1 : accuracy;
    const spacing = 1_000 / Math.min(pace.rate * reached, capacity);
    const idleUntil = world.idle && api.within(world.idle, now) ? begin + world.idle[1] * 1_000 : 0;
    nextCall = Math.max(Math.min(nextCall, now + spacing), pace.restUntil ?? 0, idleUntil, now - madeUpMs);
    while (nextCall <= now && flight.length < pace.concurrency) {
      const call = api.call(now, flight.length + 1);
      flight.push(call);
      counted[call.outcome]++;
      nextCall += spacing + (random() - 0.5) * Math.min(jitterMs, spacing);
    }

    const events = flight.map((call) => call.end);
    events.push(reportedAt + (feedbackMs || reportEveryMs));
    if (coming[0] !== undefined) events.push(coming[0].since);
    if (flight.length < pace.concurrency) events.push(nextCall);
    now = Math.max(now + 1, Math.ceil(Math.min(...events)));
  }
  return seconds;
};

/**
 * How many calls a client gets through that knows the limit and takes all of it, in each second.
 *
 * @type {import('./world.ts').Ideal}
 */
export const ideal = (parts, world) => {
  const { limit, seconds, latencyMs = 50, startAt = 0, capacity = 2_000, server } = world;
  const limiter = parts.createLimiter(limit);
  const served = server === undefined ? capacity : (server.places * 1_000) / server.serviceMs;
  const begin = epoch + startAt;
  /** @type {{ end: number, release: () => void }[]} */
  let flight = [];
  const accepted = Array.from({ length: seconds }, () => 0);
  for (let now = begin; now < begin + seconds * 1_000; now++) {
    for (const { end, release } of flight) if (end <= now) release();
    flight = flight.filter(({ end }) => end > now);
    const second = Math.floor((now - begin) / 1_000);
    const most = (Math.min(capacity, served) * (now - begin - second * 1_000 + 1)) / 1_000;
    while ((accepted[second] ?? 0) < most) {
      const admission = limiter.admit(now, 'token');
      if (!admission.admitted) break;
      accepted[second] = (accepted[second] ?? 0) + 1;
      if (admission.release) flight.push({ end: now + latencyMs, release: admission.release });
    }
  }
  return accepted;
};

/**
 * @param {Report} report
 * @param {import('./simulated-api.js').Call} call
 * @param {number} among calls in flight when it was sent, as far as is known
 * @param {number} now
 */
function tell(report, { outcome, sentAt }, among, now) {
  if (outcome === 'accepted') {
    report.accepted++;
    report.durationMs += now - sentAt;
    report.acceptedAmong = Math.max(report.acceptedAmong ?? 0, among);
  } else if (outcome === 'rejected') {
    report.rejected++;
    report.rejectedSentAt = Math.max(report.rejectedSentAt ?? 0, sentAt);
    report.rejectedAmong = Math.min(report.rejectedAmong ?? Number.POSITIVE_INFINITY, among);
  } else {
    report.unreachable = (report.unreachable ?? 0) + 1;
  }
}

/** @returns {Report} */
function nothing() {
  return { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };
}

/** @param {number} seed */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
