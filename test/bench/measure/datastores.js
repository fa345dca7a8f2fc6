// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { measureProgram } from './child.js';
import { withRedis } from './redis.js';

/** @typedef {import('./figures.js').Figures} Figures */

/**
 * A kind of datastore.
 *
 * @typedef {object} DatastoreKind
 * @property {string} name
 * @property {{ rowsAtOnce: number, maxWaiting: number }} feeding how the bare worker's rows are added
 * @property {(measurement: Measurement) => Promise<Figures>} measure
 */

/**
 * A program that works on a new and empty datastore.
 *
 * @typedef {object} Measurement
 * @property {string} folder for what is written; that is removed afterwards
 * @property {'run' | 'bare-worker'} program
 * @property {number} rows that it works on
 * @property {object} options for it, without those that locate the datastore
 */

/** @type {DatastoreKind} */
export const embeddedKind = {
  name: 'embedded',
  feeding: { rowsAtOnce: 100, maxWaiting: 1_000 },
  measure: (measurement) => measureIn(measurement, {}),
};

/** @type {DatastoreKind} */
export const redisKind = {
  name: 'Redis',
  feeding: { rowsAtOnce: 500, maxWaiting: 3_000 },
  measure: (measurement) =>
    withRedis(measurement.folder, async ({ url: queue, cpuMs }) => {
      const before = await cpuMs();
      const figures = await measureIn(measurement, { queue });
      return { ...figures, redisCpuMicroseconds: (1_000 * ((await cpuMs()) - before)) / measurement.rows };
    }),
};

/**
 * @param {Measurement} measurement
 * @param {{ queue?: string }} where
 * @returns {Promise<Figures>}
 */
async function measureIn({ folder, program, options }, where) {
  const stateDir = join(folder, 'state');
  const { course: _, ...figures } = /** @type {Figures & { course?: unknown }} */ (
    await measureProgram(program, { ...options, ...where, stateDir })
  );
  await rm(stateDir, { recursive: true, force: true });
  return figures;
}
