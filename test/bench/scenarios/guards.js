// @ts-check
import { writeManifest } from '../manifest.js';
import { embeddedKind, redisKind } from '../measure/datastores.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi } from '../measure/local-api.js';
import { redisProgram } from '../measure/redis.js';
import { inTurns } from '../measure/samples.js';

const rows = 30_000;
const turns = 7;

/**
 * The cost of guards: the same run with and without those that watch each row.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const guards = {
  name: 'guards',
  async run(context) {
    const { quick, folder, say } = context;
    const count = quick ? rows / 40 : rows;
    const source = await writeManifest(folder, count);
    const lines = [];
    if (redisProgram() === undefined) say('  there is no Redis on this machine: embedded only');
    for (const datastore of redisProgram() === undefined ? [embeddedKind] : [embeddedKind, redisKind]) {
      const samples = await withLocalApi(0, ({ url: baseUrl }) => {
        const measure = (/** @type {boolean} */ guarded) => () =>
          datastore.measure({ folder, program: 'run', rows: count, options: { baseUrl, source, guarded } });
        return inTurns(quick ? 1 : turns, { without: measure(false), with: measure(true) }, context);
      });
      const about = {
        ours: samples['with'] ?? [],
        reference: samples['without'] ?? [],
        referenceName: 'without guards',
        comparison: /** @type {const} */ ('ratio'),
      };
      const title = `${datastore.name}, guards on, API of 0 ms`;
      lines.push(
        lineAbout('rowsPerSecond', { ...about, title, goal: { atLeast: 0.97 } }),
        lineAbout('cpuMicroseconds', { ...about, title: `${title}, CPU time of the process per row` }),
      );
    }
    return lines;
  },
};
