// @ts-check
import { Pool } from 'undici';

/** The path of the restore call: section 4.1 of the interface document. */
export const restorePath = '/api/v1alpha1/scorecards/scorecards/restoreevaluation';

/**
 * A minimal client: a pool of connections with the settings of `src/engine/api/client.ts`, one request for each evaluation, and a
 * check that the answer is about it.
 *
 * @param {string} baseUrl
 * @param {number} connections
 */
export function plainClient(baseUrl, connections) {
  const pool = new Pool(baseUrl, {
    connections,
    connectTimeout: 5_000,
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
    keepAliveTimeout: 4_000,
    pipelining: 1,
    allowH2: false,
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: 'Bearer benchmark',
  };
  return {
    async restore(/** @type {number} */ id) {
      const body = `{"evaluation_id":${id},"user_id":"supervisor"}`;
      const answer = await pool.request({ method: 'POST', path: restorePath, headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`The server answered ${answer.statusCode}: ${text}`);
      const restored = JSON.parse(text).evaluation.evaluation_id;
      if (restored !== id) throw new Error(`The answer is about ${restored}, not ${id}.`);
    },
    close: () => pool.close(),
  };
}
