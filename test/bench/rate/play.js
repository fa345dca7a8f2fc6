// @ts-check
/** A worker thread of the benchmark: plays a world with one seed after the other, and answers with the figures. */
import { parentPort } from 'node:worker_threads';
import { figuresOf } from './figures.js';
import { models } from './models.js';
import { parts } from './parts.js';
import { ideal, simulate } from './simulation.js';
import { timeline } from './table.js';

/**
 * @typedef {object} Game
 * @property {string} title of a model
 * @property {import('./world.ts').World} world
 * @property {number} seeds
 */

/** @typedef {readonly { figures: import('./world.ts').Figures, timeline: string }[]} Outcome of each seed */

parentPort?.on('message', (/** @type {Game} */ { title, world, seeds }) => {
  const model = models.find((each) => each.title === title);
  if (model === undefined) throw new Error(`There is no model "${title}".`);
  const permitted = ideal(parts, world);
  /** @type {Outcome} */
  const outcome = Array.from({ length: seeds }, (_, index) => {
    const seconds = simulate(parts, { ...world, seed: index + 1 });
    return { figures: figuresOf(model, seconds, permitted), timeline: timeline(seconds) };
  });
  parentPort?.postMessage(outcome);
});
