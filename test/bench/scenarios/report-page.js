// @ts-check
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { measureProgram } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { inTurns } from '../measure/samples.js';

/** Its path on Debian. */
const chromium = '/usr/bin/chromium';

/**
 * The cost of report.html: its size, compared with report.csv of the same rows, and opening it, compared with an empty page.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const reportPage = {
  name: 'report-page',
  async run(context) {
    const { quick, folder, say } = context;
    const browser = existsSync(chromium) ? chromium : undefined;
    if (browser === undefined) say(`  without ${chromium} it is not opened`);
    const lines = [];
    for (const rows of quick ? [10_000] : [10_000, 100_000, 1_000_000]) {
      const measure = async (/** @type {'page' | 'csv'} */ contestant) => {
        const own = join(folder, `${contestant}-${rows}`);
        await mkdir(own, { recursive: true });
        return measureProgram('report-page', { contestant, rows, folder: own, browser });
      };
      const { csv, page } = await inTurns(
        quick ? 1 : 3,
        { csv: () => measure('csv'), page: () => measure('page') },
        context,
      );
      const of = `report.html of ${rows.toLocaleString('en')} rows`;
      const value = /** @type {const} */ ({ ours: page, reference: csv, comparison: 'value' });
      lines.push(
        lineAbout('sizeMb', {
          ...value,
          title: `${of}: size`,
          referenceName: 'report.csv',
          goal: { atMost: rows > 100_000 ? 6 : 3 },
        }),
        ...(browser === undefined
          ? []
          : [
              lineAbout('openMs', {
                ...value,
                title: `${of}: opened`,
                referenceName: 'an empty page',
                goal: { atMost: 2_000 },
              }),
            ]),
      );
    }
    return lines;
  },
};
