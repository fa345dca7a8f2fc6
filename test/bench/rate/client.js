// @ts-check
import { statedLimits } from '../../../dist/src/api/limits/stated-limit.js';
import { waitingTime } from '../../../dist/src/api/waiting-time/waiting-time.js';
import { Governor } from '../../../dist/src/governor/governor.js';
import { PlannedLimiter } from '../../../dist/src/sandbox/limits/limit-plan.js';
import { parseLimitPlan } from '../../../dist/src/sandbox/options/limit-plan.js';
import { limitHeaders } from '../../../dist/src/sandbox/service/limit-headers.js';

/**
 * @typedef {object} World
 * @property {string} limit as `cqbatch sandbox --limit` takes it
 * @property {'none' | 'ratelimit' | 'ratelimit-fields' | 'x-ratelimit'} [headers]
 * @property {boolean} [retryAfter] whether a refusal tells when to come back, in whole seconds
 * @property {number} seconds
 * @property {number} [startAt] milliseconds into a minute at which the client begins
 * @property {number} [latencyMs] mean of the API's
 * @property {number} [feedbackMs] how late the governor learns what the workers met with, and they what it wants
 * @property {number} [capacity] calls a second that the client could make at all
 * @property {{ rate?: number }} [learned]
 *
 * @typedef {{ accepted: number, rejected: number, phase?: string, rate?: number, limit?: number | undefined, concurrency?: number }} Second
 */

const epoch = 1_800_000_000_000;
const minute = epoch - (epoch % 60_000);
/** Workers start what a window of the rate allows a little late, so that they use somewhat less than they may. */
const accuracy = 0.985;
const jitterMs = 4;

/**
 * Lets a governed client call a limited API in simulated time, a millisecond at a time.
 *
 * @param {World} world
 * @returns {Second[]}
 */
export function simulate(world) {
  const { latencyMs = 50, feedbackMs = 0, capacity = 2_000, startAt = 0 } = world;
  const random = randomFrom(1);
  const limiter = limiterOf(world.limit);
  const begin = minute + startAt;
  const governor = new Governor(begin, {
    concurrency: { start: 50, most: 200 },
    ...(world.learned && { learned: world.learned }),
  });
  let pace = governor.update(begin, nothing());
  /** @type {{ since: number, pace: typeof pace }[]} */
  const coming = [];
  /** @type {{ end: number, sentAt: number, among: number, accepted: boolean, release?: (() => void) | undefined, headers: Record<string, string> }[]} */
  let flight = [];
  /** @type {Second[]} */
  const seconds = [];
  let traffic = nothing();
  let reportedAt = begin;
  let nextCall = begin;

  for (let now = begin; now < begin + world.seconds * 1_000; now++) {
    let refused = false;
    const ended = flight.filter(({ end }) => end <= now);
    if (ended.length > 0) flight = flight.filter(({ end }) => end > now);
    for (const call of ended) {
      call.release?.();
      for (const stated of statedLimits(call.headers, now)) {
        traffic.stated = [...traffic.stated.filter(({ name }) => name !== stated.name), stated];
      }
      if (call.accepted) {
        traffic.accepted++;
        traffic.durationMs += now - call.sentAt;
        traffic.acceptedAmong = Math.max(traffic.acceptedAmong ?? 0, call.among);
        continue;
      }
      refused = true;
      traffic.rejected++;
      traffic.rejectedSentAt = Math.max(traffic.rejectedSentAt ?? 0, call.sentAt);
      traffic.rejectedAmong = Math.min(traffic.rejectedAmong ?? Number.POSITIVE_INFINITY, call.among);
      const wait = waitingTime(call.headers, undefined, now);
      if (world.retryAfter && wait !== undefined)
        traffic.waitUntil = Math.max(traffic.waitUntil ?? 0, now + wait);
    }
    const due = feedbackMs === 0 ? (refused ? 0 : 100) : feedbackMs;
    if (now - reportedAt >= due) {
      traffic.active = flight.length;
      const wanted = governor.update(now, traffic);
      if (feedbackMs === 0) pace = wanted;
      else coming.push({ since: now + feedbackMs / 2, pace: wanted });
      traffic = nothing();
      reportedAt = now;
    }
    const first = coming[0];
    if (first !== undefined && first.since <= now) {
      pace = first.pace;
      coming.shift();
    }

    const spacing = 1_000 / Math.min(pace.rate * accuracy, capacity);
    nextCall = Math.max(Math.min(nextCall, now + spacing), pace.restUntil ?? 0, now - 20);
    while (nextCall <= now && flight.length < pace.concurrency) {
      const admission = limiter.admit(now, 'token');
      const headers =
        (admission.allowance && limitHeaders(admission.allowance, world.headers ?? 'none', now)) ?? {};
      if (world.retryAfter && !admission.admitted && admission.retryAfter !== undefined)
        headers['retry-after'] = String(Math.max(1, Math.ceil(admission.retryAfter)));
      flight.push({
        sentAt: now,
        end: now + Math.max(1, latencyMs * (0.8 + 0.4 * random())) + ((admission.admitted && admission.delay) || 0),
        among: flight.length + 1,
        accepted: admission.admitted,
        release: admission.admitted ? admission.release : undefined,
        headers,
      });
      const second = Math.floor((now - begin) / 1_000);
      seconds[second] ??= { accepted: 0, rejected: 0 };
      const counted = seconds[second];
      if (admission.admitted) counted.accepted++;
      else counted.rejected++;
      nextCall += spacing + (random() - 0.5) * Math.min(jitterMs, spacing);
    }
    if ((now - begin) % 1_000 === 999) {
      const second = Math.floor((now - begin) / 1_000);
      seconds[second] = {
        ...(seconds[second] ?? { accepted: 0, rejected: 0 }),
        phase: pace.phase,
        rate: pace.rate,
        limit: pace.learned,
        concurrency: pace.concurrency,
      };
    }
  }
  return seconds;
}

/**
 * How many calls a client gets through that knows the limit and takes all of it, in each second.
 *
 * @param {World} world
 * @returns {number[]}
 */
export function ideal({ limit, seconds, latencyMs = 50, startAt = 0, capacity = 2_000 }) {
  const limiter = limiterOf(limit);
  const begin = minute + startAt;
  /** @type {{ end: number, release: () => void }[]} */
  let flight = [];
  const accepted = Array.from({ length: seconds }, () => 0);
  for (let now = begin; now < begin + seconds * 1_000; now++) {
    for (const { end, release } of flight) if (end <= now) release();
    flight = flight.filter(({ end }) => end > now);
    for (let made = 0; made < capacity; made++) {
      const admission = limiter.admit(now, 'token');
      if (!admission.admitted) break;
      const second = Math.floor((now - begin) / 1_000);
      accepted[second] = (accepted[second] ?? 0) + 1;
      if (admission.release) flight.push({ end: now + latencyMs, release: admission.release });
    }
  }
  return accepted;
}

/** @param {string} limit */
function limiterOf(limit) {
  return new PlannedLimiter(parseLimitPlan('--limit', limit));
}

function nothing() {
  return /** @type {import('../../../dist/src/governor/traffic.js').Traffic & { -readonly [Key in keyof import('../../../dist/src/governor/traffic.js').Traffic]: import('../../../dist/src/governor/traffic.js').Traffic[Key] }} */ ({
    accepted: 0,
    rejected: 0,
    durationMs: 0,
    active: 0,
    stated: [],
  });
}

/** @param {number} seed */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
