// @ts-check
import { plainClient } from '../programs/plain-client.js';
import { withSandbox } from './sandbox.js';

const warmUpMs = 500;
const measuredMs = 4_000;

/**
 * How many calls a second are made by this many loops, each of which calls again as soon as it has its answer: the most
 * possible with that many calls in flight.
 *
 * @param {number} inFlight
 * @param {readonly string[]} sandbox options of its command line
 */
export function callsPerSecondOf(inFlight, sandbox) {
  return withSandbox(sandbox, async ({ url, calls }) => {
    const client = plainClient(url, inFlight);
    const begin = Date.now() + warmUpMs;
    const end = begin + measuredMs;
    let evaluation = 1;
    const loop = async () => {
      while (Date.now() < end) await client.restore(evaluation++);
    };
    try {
      await Promise.all(Array.from({ length: inFlight }, loop));
    } finally {
      await client.close();
    }
    return (1_000 * (await calls()).filter(({ at }) => at >= begin && at < end).length) / measuredMs;
  });
}
