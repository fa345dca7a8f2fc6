// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { measureProgram } from '../measure/child.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';

/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('./scenario.js').Context} Context */
/** @typedef {import('../programs/run.js').RunFigures} RunFigures */

/**
 * Peak memory of large runs beside small ones: everything but datastore and network with a million rows, and whole
 * runs on the embedded datastore with fewer.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const memory = {
  name: 'memory',
  async run(context) {
    return [await withoutDatastore(context), await onDatastore(context)];
  },
};

/** While V8 optimises PGlite's code, up to this row or so, the process takes more memory than ever after. */
const warmUpRows = 6_000;

/** @returns {Promise<Line>} */
async function withoutDatastore(/** @type {Context} */ { quick, folder, say }) {
  const large = quick ? 100_000 : 1_000_000;
  const small = quick ? 1_000 : 10_000;
  const samples = await peaks({ large, small, folder, say }, ({ stateDir, source }) =>
    measureProgram('journal-and-report', { stateDir, source }),
  );
  return {
    title: `peak memory, ${count(large)} rows, without datastore and network`,
    ...samples,
    referenceName: `with ${count(small)}`,
    unit: 'MB',
    comparison: 'difference',
    goal: { atMost: 150 },
  };
}

/** @returns {Promise<Line>} */
function onDatastore(/** @type {Context} */ { quick, folder, say }) {
  return withLocalApi(0, async ({ url: baseUrl }) => {
    const large = quick ? 2_000 : 15_000;
    const small = quick ? 500 : warmUpRows;
    const samples = await peaks({ large, small, folder, say }, async (run) => {
      const { peakMb } = /** @type {RunFigures} */ (await measureProgram('run', { ...run, baseUrl }));
      return peakMb;
    });
    return {
      title: `peak memory, embedded run of ${count(large)} rows`,
      ...samples,
      referenceName: `with ${count(small)}`,
      unit: 'MB',
      comparison: 'difference',
    };
  });
}

/**
 * @param {Pick<Context, 'folder' | 'say'> & { large: number, small: number }} sizes rows
 * @param {(run: { stateDir: string, source: string }) => Promise<number>} measure gives the peak in MB
 * @returns {Promise<{ ours: readonly number[], reference: readonly number[] }>}
 */
async function peaks({ large, small, folder, say }, measure) {
  const peakOf = (/** @type {number} */ rows) => async () => {
    const source = join(folder, 'manifest.csv');
    const stateDir = join(folder, 'state');
    await writeManifest(source, rows);
    const peak = await measure({ stateDir, source });
    await rm(stateDir, { recursive: true });
    return peak;
  };
  return inTurns(1, { reference: peakOf(small), ours: peakOf(large) }, say);
}

function count(/** @type {number} */ rows) {
  return rows.toLocaleString('en');
}
