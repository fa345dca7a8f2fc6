// @ts-check
/** A worker thread of the benchmark: plays a world with one seed after the other, and answers with the figures. */
import { parentPort } from 'node:worker_threads';
import { figuresOf } from './figures.js';
import { ideal, simulate } from './simulation.js';
import { timeline } from './table.js';

/**
 * @typedef {object} Game
 * @property {import('./world.ts').Model} model
 * @property {import('./world.ts').World} world
 * @property {number} seeds
 */

/** @typedef {readonly { figures: import('./world.ts').Figures, timeline: string }[]} Outcome of each seed */

parentPort?.on('message', (/** @type {Game} */ { model, world, seeds }) => {
  const permitted = ideal(world);
  /** @type {Outcome[number][]} */
  const outcome = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const seconds = simulate({ ...world, seed });
    outcome.push({ figures: figuresOf(model, seconds, permitted), timeline: timeline(seconds) });
  }
  parentPort?.postMessage(outcome);
});
