// @ts-check
/**
 * Members of a fleet that share a rate, in one process: each has its own connections to Redis, the gate and the loop of a
 * worker, and always waiting rows. The calls are answered here, by a limit that refuses calls beyond it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster } from '../../../dist/src/engine/cluster/cluster.js';
import { CallGate } from '../../../dist/src/engine/rate/call-gate.js';
import { CallScheduler } from '../../../dist/src/engine/rate/call-scheduler.js';
import { LeaderLoop } from '../../../dist/src/engine/rate/leader-loop.js';
import { mostConcurrency } from '../../../dist/src/engine/rate/rate-controller.js';
import { TrafficMeter } from '../../../dist/src/engine/rate/traffic-meter.js';
import { Prefetch, withSpare } from '../../../dist/src/engine/worker/prefetch.js';
import { parseLimitPlan } from '../../../dist/src/sandbox/limits/plan.js';
import { baseUrl, fail, measureMembers, openDatastore, run } from './fleet.js';
import { program } from './program.js';

/** @typedef {import('./fleet.js').Fleet & { perSecond: number }} AtRate `perSecond` is what the API permits */

/**
 * @typedef {import('../measure/redis.js').FleetUsage & {
 *   usedPercent: number, refusedPercent: number, everywhereMs: number
 * }} AtRateFigures `everywhereMs`: from a new bound of the run until each membership keeps it
 */

const latencyMs = 50;
const settleMs = 3_000;
/** The share of the rate to which the run lowers its bound at the end. */
const laterShare = 0.5;
const patienceMs = 10_000;
/** @type {import('../../../dist/src/engine/api/client.js').ApiAnswer} */
const accepted = { ok: true, status: 200, body: {}, requests: 1, durationMs: latencyMs };
/** @type {import('../../../dist/src/engine/api/client.js').ApiAnswer} */
const refused = {
  ok: false,
  requests: 1,
  durationMs: latencyMs,
  failure: {
    class: 'slow-down',
    code: 'RESOURCE_EXHAUSTED',
    message: 'too many',
    status: 429,
    unclear: false,
  },
};

await program(async (/** @type {AtRate} */ fleet) => {
  const { queue, members, perSecond } = fleet;
  const limiter = parseLimitPlan(
    '--limit',
    `token-bucket:rate=${perSecond},burst=${Math.ceil(perSecond / 5)}`,
  );
  const counted = { accepted: 0, refused: 0 };
  const own = openCluster(await openDatastore(queue));
  /** @type {number | undefined} */
  let bound;
  const announce = () =>
    own.putRun({
      ...run,
      rate: { text: 'auto', auto: true, ...(bound !== undefined && { perSecond: bound }) },
    });
  await announce();
  const announcing = setInterval(announce, 1_000);

  /** The gap between two slots as each membership knows it. */
  const gaps = new Map();
  const start = async (/** @type {number} */ index) => {
    const membership = openCluster(await openDatastore(queue)).join({ baseUrl }, 'benchmark');
    const gate = new CallGate({
      scheduler: new CallScheduler({ random: Math.random }),
      async take(request) {
        const reply = await membership.take(request);
        gaps.set(index, reply.gap);
        return reply;
      },
      onError: fail,
    });
    const meter = new TrafficMeter();
    meter.elsewhere = () => gate.elsewhere;
    const prefetch = new Prefetch();
    let finished = 0;
    let inHand = 0;
    let wanted = 0;
    const call = async () => {
      if (!(await gate.reserve())) return;
      const leaveBy = await gate.enter(1);
      if (leaveBy === undefined) return;
      const metered = meter.noteSent();
      gate.noteSent(leaveBy);
      const { isAdmitted } = limiter.admit(Date.now(), 'token');
      counted[isAdmitted ? 'accepted' : 'refused'] += 1;
      await sleep(latencyMs);
      meter.noteEnd(metered, isAdmitted ? accepted : refused);
      gate.leave();
      finished += 1;
    };
    const fill = () => {
      for (; inHand < wanted && !gate.isResting; inHand += 1)
        void call().then(() => {
          inHand -= 1;
          fill();
        }, fail);
    };
    const loop = new LeaderLoop({
      membership,
      meter,
      gate,
      startingPoint: { limit: perSecond, concurrency: mostConcurrency },
      facts: () => ({ finished, concurrency: wanted }),
      onPace(pace, { concurrency }) {
        const most = withSpare(concurrency);
        const needed = prefetch.update(gate.takeBusiest(), most);
        wanted = pace.isKept ? needed : most;
        fill();
      },
      onError: fail,
    });
    await loop.established;
  };
  const { usage, passedMs } = await measureMembers(fleet, start, settleMs, () =>
    Object.assign(counted, { accepted: 0, refused: 0 }),
  );
  const { accepted: made, refused: lost } = counted;

  bound = laterShare * perSecond;
  const changedAt = performance.now();
  await announce();
  const isEverywhere = () =>
    gaps.size === members && [...gaps.values()].every((gap = 0) => gap > 990 / (laterShare * perSecond));
  while (!isEverywhere() && performance.now() < changedAt + patienceMs) await sleep(5);
  const everywhereMs = isEverywhere() ? performance.now() - changedAt : Number.POSITIVE_INFINITY;
  clearInterval(announcing);
  return /** @satisfies {AtRateFigures} */ ({
    ...usage,
    usedPercent: (100 * made) / (perSecond * (passedMs / 1_000)),
    refusedPercent: (100 * lost) / (made + lost),
    everywhereMs,
  });
});
