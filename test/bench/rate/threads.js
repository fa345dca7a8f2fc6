// @ts-check
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** @typedef {import('./play.js').Game} Game */
/** @typedef {import('./play.js').Outcome} Outcome */

/**
 * Plays as many worlds in parallel as there are cores.
 *
 * @param {readonly Game[]} games
 * @returns {Promise<Outcome[]>} in the order of the games
 */
export async function playAll(games) {
  /** @type {Outcome[]} */
  const outcomes = [];
  const waiting = games.entries();
  const threads = Array.from({ length: Math.min(availableParallelism(), games.length) }, () =>
    playSome(waiting, outcomes),
  );
  await Promise.all(threads);
  return outcomes;
}

/**
 * Takes one game after the other.
 *
 * @param {Iterator<[number, Game]>} waiting
 * @param {Outcome[]} outcomes
 * @returns {Promise<void>}
 */
function playSome(waiting, outcomes) {
  const thread = new Worker(new URL('./play.js', import.meta.url));
  return new Promise((resolve, reject) => {
    const playNext = () => {
      const { done, value } = waiting.next();
      if (done) {
        resolve(thread.terminate().then(() => {}));
        return;
      }
      const [place, game] = value;
      thread.once('message', (outcome) => {
        outcomes[place] = outcome;
        playNext();
      });
      thread.postMessage(game);
    };
    thread.once('error', reject);
    playNext();
  });
}
