// @ts-check
import { Pool } from 'undici';
import { withSandbox } from './sandbox.js';

const warmUpMs = 500;
const measuredMs = 4_000;
const path = '/api/v1alpha1/scorecards/scorecards/restoreevaluation';

/**
 * How many calls a second so many loops make that each call again as soon as they have their answer: more cannot be made
 * with as many calls in flight.
 *
 * @param {number} inFlight
 * @param {readonly string[]} sandbox options of its command line
 */
export function callsPerSecondOf(inFlight, sandbox) {
  return withSandbox(sandbox, async ({ url, calls }) => {
    const pool = new Pool(url, { connections: inFlight });
    const begin = Date.now() + warmUpMs;
    const end = begin + measuredMs;
    let evaluation = 0;
    const loop = async () => {
      while (Date.now() < end) {
        const { body } = await pool.request({
          path,
          method: 'POST',
          headers: { authorization: 'Bearer benchmark', 'content-type': 'application/json' },
          body: JSON.stringify({ evaluation_id: ++evaluation, user_id: 'loop' }),
        });
        await body.dump();
      }
    };
    try {
      await Promise.all(Array.from({ length: inFlight }, loop));
    } finally {
      await pool.close();
    }
    return (1_000 * (await calls()).filter(({ at }) => at >= begin && at < end).length) / measuredMs;
  });
}
