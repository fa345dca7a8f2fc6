// @ts-check
import { once } from 'node:events';
import { startScript } from './child.js';

/**
 * The plain local server, in a separate process.
 *
 * @typedef {object} LocalApi
 * @property {string} url
 * @property {() => Promise<readonly number[]>} takeArrivals when each request since the last time arrived, in milliseconds of
 *   the server's own clock
 */

/**
 * @template Result
 * @param {number} latencyMs how long each answer takes
 * @param {(api: LocalApi) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export function withLocalApi(latencyMs, use) {
  return withServer(new URL('../server.js', import.meta.url), String(latencyMs), use);
}

/**
 * The cheapest possible server: it answers at once, in few bytes, and keeps no arrivals.
 *
 * @template Result
 * @param {(api: Pick<LocalApi, 'url'>) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export function withLeanApi(use) {
  return withServer(new URL('../lean-server.js', import.meta.url), '', use);
}

/**
 * @template Result
 * @param {URL} script
 * @param {string} argument
 * @param {(api: LocalApi) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
async function withServer(script, argument, use) {
  const server = startScript(script, argument);
  const ended = once(server, 'exit').then(() => {
    throw new Error('The local server ended.');
  });
  // Killing it in the end is not a failure; if it dies earlier, callers that wait for an answer learn about it.
  ended.catch(() => {});
  const answer = async () => (await Promise.race([once(server, 'message'), ended]))[0];
  try {
    const { port } = /** @type {{ port: number }} */ (await answer());
    return await use({
      url: `http://127.0.0.1:${port}`,
      async takeArrivals() {
        server.send('take arrivals');
        return /** @type {number[]} */ (await answer());
      },
    });
  } finally {
    server.kill();
  }
}
