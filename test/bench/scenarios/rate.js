// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { measureProgram } from '../measure/child.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';
import { arrivalsPerSecond } from '../measure/slope.js';

const callsPerSecond = 100;
const latencyMs = 50;

/**
 * How much of an allowed rate a run uses, as the server sees it, after the first second.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const rate = {
  name: 'rate',
  run: ({ quick, folder, say }) =>
    withLocalApi(latencyMs, async ({ url: baseUrl, takeArrivals }) => {
      const source = join(folder, 'manifest.csv');
      await writeManifest(source, callsPerSecond * (quick ? 4 : 12));
      const { ours } = await inTurns(
        quick ? 1 : 3,
        {
          async ours() {
            const stateDir = join(folder, 'state');
            await measureProgram('run', { stateDir, source, baseUrl, rate: `${callsPerSecond}/s` });
            await rm(stateDir, { recursive: true });
            return rateAfterFirstSecond(await takeArrivals());
          },
        },
        say,
      );
      return [
        {
          title: `--rate ${callsPerSecond}/s, API of ${latencyMs} ms`,
          unit: 'calls/s',
          ours,
          reference: ours.map(() => callsPerSecond),
          referenceName: 'allowed',
          comparison: 'ratio',
          goal: { atLeast: 0.98 },
        },
      ];
    }),
};

function rateAfterFirstSecond(/** @type {readonly number[]} */ arrivals) {
  const from = (arrivals[0] ?? 0) + 1_000;
  return arrivalsPerSecond(arrivals.filter((time) => time >= from));
}
