// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { cqbatch } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';
import { measureScript } from '../measure/usage.js';

/** @typedef {import('../measure/line.js').Line} Line */

/**
 * What a run of two rows on the embedded datastore takes from the start of its process to the end: time and memory.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const shortRun = {
  name: 'short-run',
  async run(context) {
    const { quick, folder } = context;
    const source = join(folder, 'manifest.csv');
    const stateDir = join(folder, 'state');
    await writeManifest(source, 2);
    const samples = await withLocalApi(0, ({ url: baseUrl }) => {
      const measure = async (/** @type {readonly string[]} */ args) => {
        const env = { CQBATCH_TOKEN: 'benchmark' };
        return measureScript(args, { usageFile: join(folder, 'usage.json'), env });
      };
      const run = () =>
        measure([
          ...[cqbatch, 'run', source, '--yes', '--quiet'],
          ...['--base-url', baseUrl, '--state-dir', stateDir],
        ]);
      return inTurns(
        quick ? 2 : 9,
        {
          node: () => measure(['-e', '0']),
          'new folder': async () => {
            await rm(stateDir, { recursive: true, force: true });
            return run();
          },
          // That of the run before, which has ended as it should.
          'existing folder': run,
        },
        context,
      );
    });
    return [
      ...linesOf('existing state folder', samples['existing folder'], samples.node),
      ...linesOf('new state folder', samples['new folder'], samples.node),
    ];
  },
};

/**
 * @param {string} where
 * @param {readonly import('../measure/figures.js').Figures[]} ours
 * @param {readonly import('../measure/figures.js').Figures[]} node
 * @returns {readonly Line[]}
 */
function linesOf(where, ours, node) {
  const title = `embedded run of two rows, ${where}`;
  const line = /** @type {const} */ ({
    ours,
    reference: node,
    referenceName: 'node -e 0',
    comparison: 'value',
  });
  return [
    lineAbout('wallMs', { ...line, title: `${title}: start to end`, goal: { atMost: 1_000 } }),
    lineAbout('peakMb', { ...line, title: `${title}: peak memory`, goal: { atMost: 300 } }),
  ];
}
