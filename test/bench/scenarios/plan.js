// @ts-check
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeManifest } from '../manifest.js';
import { cqbatch } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { inTurns } from '../measure/samples.js';
import { measureScript } from '../measure/usage.js';

const csvAndZod = fileURLToPath(new URL('../programs/csv-and-zod.js', import.meta.url));

/**
 * How fast `cqbatch plan` reads a large CSV file, compared with csv-parse and a bare zod check. Whole processes.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const plan = {
  name: 'plan',
  async run(context) {
    const { quick, folder } = context;
    const rows = quick ? 100_000 : 1_000_000;
    const source = await writeManifest(folder, rows);
    const usageFile = join(folder, 'usage.json');
    const measure = async (/** @type {readonly string[]} */ args) => {
      const { wallMs, cpuMs } = await measureScript(args, { usageFile, cwd: folder });
      return { rowsPerSecond: (1_000 * rows) / wallMs, cpuMicroseconds: (1_000 * cpuMs) / rows };
    };
    const { reference, ours } = await inTurns(
      quick ? 2 : 3,
      {
        reference: () => measure([csvAndZod, source, String(rows)]),
        ours: () => measure([cqbatch, 'plan', '--quiet', source]),
      },
      context,
    );
    return [
      lineAbout('rowsPerSecond', {
        title: `cqbatch plan, CSV of ${rows.toLocaleString('en')} rows`,
        ours,
        reference,
        referenceName: 'csv-parse and zod',
        comparison: 'ratio',
        goal: { atLeast: 0.4 },
      }),
    ];
  },
};
