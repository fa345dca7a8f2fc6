// @ts-check
import { writeManifest } from '../manifest.js';
import { redisKind } from '../measure/datastores.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';

const concurrency = 50;

/**
 * The budget of each part of a row's way, as a share of the CPU time that a bare BullMQ worker takes for a row: 0.85 in all.
 */
const budgets = /** @type {const} */ ({
  rows: 0.06,
  client: 0.35,
  ledger: 0.2,
  journal: 0.04,
  report: 0.05,
  garbage: 0.08,
  rest: 0.07,
});

/**
 * Where a run on Redis spends the CPU time of its main thread, from samples of the profiler: sampling costs time, too, so that
 * the parts add up to more than in the scenario `redis`.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const parts = {
  name: 'parts',
  needsRedis: true,
  async run(context) {
    const { quick, folder } = context;
    const rows = quick ? 2_000 : 60_000;
    const source = await writeManifest(folder, rows);
    const { bare, ours } = await withLocalApi(0, ({ url: baseUrl }) =>
      inTurns(
        quick ? 1 : 3,
        {
          bare: () =>
            redisKind.measure({
              folder,
              program: 'bare-worker',
              rows,
              options: { baseUrl, concurrency, ...redisKind.feeding, rows },
            }),
          ours: () =>
            redisKind.measure({ folder, program: 'run', rows, options: { baseUrl, source, parts: true } }),
        },
        context,
      ),
    );
    return Object.entries(budgets).map(([part, atMost]) => ({
      title: `Redis, API of 0 ms, CPU time of the main thread per row: ${part}`,
      unit: 'µs',
      ours: ours.map((figures) => figures[/** @type {keyof typeof budgets} */ (part)] ?? Number.NaN),
      reference: bare.map(({ cpuMicroseconds = Number.NaN }) => cpuMicroseconds),
      referenceName: 'all of a bare BullMQ worker',
      comparison: 'ratio',
      goal: { atMost },
    }));
  },
};
