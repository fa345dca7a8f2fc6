// @ts-check
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cqbatch, timeCommand } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { withSandbox } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';
import { measureScript } from '../measure/usage.js';

const entries = 100_000;

/**
 * What a comparison costs: the plan of edits of all entries of a service, beside the same plan without a comparison. Whole processes.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const compare = {
  name: 'compare',
  async run(context) {
    const { quick, folder } = context;
    const rows = quick ? entries / 10 : entries;
    return withSandbox(['--soundboards', String(rows), '--evaluations', '0'], async ({ url, token }) => {
      const env = { CQBATCH_BASE_URL: url, CQBATCH_TOKEN: token };
      const source = await edited(folder, env);
      const measure = (/** @type {readonly string[]} */ ...more) =>
        measureScript([cqbatch, 'plan', '--quiet', source, '--allow-partial', ...more], {
          usageFile: join(folder, 'usage.json'),
          cwd: folder,
          env,
        });
      const { without = [], compared = [] } = await inTurns(
        quick ? 2 : 3,
        { without: () => measure(), compared: () => measure('--compare') },
        context,
      );
      const about = { ours: compared, reference: without, referenceName: 'without --compare' };
      const title = `cqbatch plan --compare, ${rows.toLocaleString('en')} rows and entries`;
      const comparison = /** @type {const} */ ('difference');
      return [
        lineAbout('cpuMs', { ...about, title: `${title}: CPU time`, comparison, goal: { atMost: 3_000 } }),
        lineAbout('peakMb', { ...about, title: `${title}: peak memory`, comparison, goal: { atMost: 150 } }),
      ];
    });
  },
};

/** Exports all entries, and changes the title of each. */
async function edited(/** @type {string} */ folder, /** @type {Record<string, string>} */ env) {
  const exported = join(folder, 'exported.csv');
  await timeCommand(process.execPath, [cqbatch, 'export', 'soundboards', '--out', exported], {
    cwd: folder,
    env,
  });
  const path = join(folder, 'edited.csv');
  await writeFile(path, (await readFile(exported, 'utf8')).replaceAll(',Recording ', ',Greeting '));
  return path;
}
