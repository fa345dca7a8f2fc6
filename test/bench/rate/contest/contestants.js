// @ts-check
import { AdaptiveRetryStrategy } from '@smithy/util-retry';
import PQueue from 'p-queue';

/** @typedef {import('../world.ts').Contestant} Contestant */
/** @typedef {Parameters<AdaptiveRetryStrategy['recordSuccess']>[0]} Token */

/**
 * The other contestants.
 *
 * @type {import('../world.ts').Contestants}
 */
export const contestants = {
  'AWS adaptive': () => adaptive,
  Gradient2: () => gradient,
  'p-queue': () => guess,
  'half the rate': (perSecond) => fixed(perSecond / 2),
  'the rate': fixed,
  'twice the rate': (perSecond) => fixed(perSecond * 2),
};

/**
 * The adaptive mode of the AWS SDK for JavaScript, with as many calls in flight as the SDK has sockets.
 *
 * @type {Contestant}
 */
function adaptive(call) {
  const strategy = new AdaptiveRetryStrategy(3);
  const row = async () => {
    let token = /** @type {Token} */ (await strategy.acquireInitialRetryToken('rows'));
    for (;;) {
      const { status, headers } = await call();
      if (status === 200) return strategy.recordSuccess(token);
      const seconds = headers['retry-after'];
      token = /** @type {Token} */ (
        await strategy.refreshRetryTokenForRetry(token, {
          errorType: 'THROTTLING',
          ...(seconds && { retryAfterHint: new Date(Date.now() + 1_000 * Number(seconds)) }),
        })
      );
    }
  };
  for (let socket = 0; socket < 50; socket++) void again(() => row().catch(noAttemptsLeft));
}

/** The row fails, the next one follows. */
function noAttemptsLeft() {}

/**
 * Gradient2 of Netflix' concurrency-limits in windows of a second, with its defaults. The least is 1 instead of 20, because
 * its documentation calls a least number of calls in flight undesirable for batches.
 *
 * @type {Contestant}
 */
function gradient(call) {
  const [most, queue, smoothing, longWindow, firstWindows] = [200, 4, 0.2, 600, 10];
  let limit = 20;
  let active = 0;
  let longMs = 0;
  let windows = 0;
  let windowEnd = 0;
  /** @type {{ ms: number, among: number }[]} */
  let samples = [];
  const sampled = (/** @type {number} */ shortMs, /** @type {number} */ among) => {
    windows++;
    longMs += (shortMs - longMs) * (windows <= firstWindows ? 1 / windows : 2 / (longWindow + 1));
    const long = longMs;
    if (long / shortMs > 2) longMs *= 0.9;
    if (among < limit / 2) return;
    const wanted = limit * Math.max(0.5, Math.min(1, long / shortMs)) + queue;
    limit = Math.max(1, Math.min(most, limit * (1 - smoothing) + wanted * smoothing));
  };
  const start = async () => {
    const among = ++active;
    const sentAt = Date.now();
    await call();
    const now = Date.now();
    active--;
    samples.push({ ms: now - sentAt, among });
    if (now > windowEnd) {
      if (samples.length >= 10)
        sampled(
          samples.reduce((sum, { ms }) => sum + ms, 0) / samples.length,
          Math.max(...samples.map((sample) => sample.among)),
        );
      samples = [];
      windowEnd = now + 1_000;
    }
    fill();
  };
  const fill = () => {
    while (active < Math.floor(limit)) void start();
  };
  fill();
}

/**
 * A queue whose user guesses 50 calls a second, ten in flight.
 *
 * @type {Contestant}
 */
function guess(call) {
  const queue = new PQueue({ concurrency: 10, intervalCap: 50, interval: 1_000 });
  for (let row = 0; row < 100; row++) void again(() => queue.add(call));
}

/** Evenly, whatever the answers. @returns {Contestant} */
function fixed(/** @type {number} */ perSecond) {
  return (call) => {
    const begin = Date.now();
    let calls = 0;
    void again(async () => {
      const wait = begin + (1_000 * calls++) / perSecond - Date.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      void call();
    });
  };
}

async function again(/** @type {() => Promise<unknown>} */ act) {
  for (;;) await act();
}
