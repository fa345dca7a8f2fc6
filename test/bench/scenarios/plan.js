// @ts-check
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeManifest } from '../manifest.js';
import { cqbatch, timeCommand } from '../measure/child.js';
import { inTurns } from '../measure/samples.js';

const csvAndZod = fileURLToPath(new URL('../programs/csv-and-zod.js', import.meta.url));

/**
 * How quickly `cqbatch plan` gets through a large CSV file, beside csv-parse with a bare zod check. Whole processes.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const plan = {
  name: 'plan',
  async run({ quick, folder, say }) {
    const rows = quick ? 100_000 : 1_000_000;
    const source = join(folder, 'manifest.csv');
    await writeManifest(source, rows);
    const rowsPerSecond = async (/** @type {readonly string[]} */ args) =>
      rows / ((await timeCommand(process.execPath, args, { cwd: folder })) / 1_000);
    const { reference, ours } = await inTurns(
      quick ? 2 : 3,
      {
        reference: () => rowsPerSecond([csvAndZod, source, String(rows)]),
        ours: () => rowsPerSecond([cqbatch, 'plan', '--quiet', source]),
      },
      say,
    );
    return [
      {
        title: `cqbatch plan, CSV of ${rows.toLocaleString('en')} rows`,
        unit: 'rows/s',
        ours,
        reference,
        referenceName: 'csv-parse and zod',
        comparison: 'ratio',
        goal: { atLeast: 0.4 },
      },
    ];
  },
};
