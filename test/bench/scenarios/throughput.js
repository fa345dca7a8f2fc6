// @ts-check
import { writeManifest } from '../manifest.js';
import { measureProgram } from '../measure/child.js';
import { embeddedKind, redisKind } from '../measure/datastores.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi, withTlsApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';

/** @typedef {import('../measure/figures.js').Figures} Figures */
/** @typedef {import('../measure/line.js').Line} Line */

const concurrency = 50;

/**
 * A whole run in one process, compared with a bare BullMQ worker on the same kind of datastore and, if wanted, with a loop
 * without a datastore.
 *
 * Ours and the bare worker have different numbers of rows, so that on two usual cores each works for about fifteen seconds on
 * Redis and twenty on the embedded datastore. V8 optimizes during the first 20,000 rows on Redis, and during the first 5,000
 * rows of the bare worker on the embedded one; equally long work gives that the same weight on both sides, while equal numbers
 * of rows would give it most on the fastest.
 *
 * @typedef {object} Throughput
 * @property {string} name
 * @property {import('../measure/datastores.js').DatastoreKind} datastore
 * @property {number} latencyMs of the API
 * @property {boolean} [tls] whether the API speaks TLS
 * @property {number} turns
 * @property {{ ours: number, bare: number, loop?: number }} rows
 * @property {readonly Comparison[]} comparisons
 */

/**
 * @typedef {object} Comparison
 * @property {keyof typeof titles} figure
 * @property {keyof typeof referenceNames} to
 * @property {import('../measure/line.js').Comparison} [comparison] default: ratio
 * @property {import('../measure/line.js').Goal} [goal]
 */

const titles = {
  rowsPerSecond: '',
  cpuMicroseconds: ', CPU time of the process per row',
  warmCpuMicroseconds: ', the same from a half to 95 % of the rows',
  redisCpuMicroseconds: ', CPU time of Redis per row',
  peakMb: ', peak memory of the process',
  resumedPercent: ', handshakes that resume a session',
};

const referenceNames = { bare: 'bare BullMQ worker', loop: 'undici loop, nothing kept' };

export const redis = throughput({
  name: 'redis',
  datastore: redisKind,
  latencyMs: 0,
  turns: 5,
  rows: { ours: 100_000, bare: 60_000, loop: 100_000 },
  comparisons: [
    { figure: 'rowsPerSecond', to: 'bare', goal: { atLeast: 1 } },
    { figure: 'cpuMicroseconds', to: 'bare', goal: { atMost: 1.05 } },
    { figure: 'warmCpuMicroseconds', to: 'bare', goal: { atMost: 0.95 } },
    { figure: 'redisCpuMicroseconds', to: 'bare', goal: { atMost: 0.25 } },
    { figure: 'peakMb', to: 'bare', comparison: 'difference', goal: { atMost: 60 } },
    { figure: 'rowsPerSecond', to: 'loop', goal: { atLeast: 0.5 } },
    { figure: 'cpuMicroseconds', to: 'loop' },
  ],
});

export const embedded = throughput({
  name: 'embedded',
  datastore: embeddedKind,
  latencyMs: 0,
  turns: 5,
  rows: { ours: 40_000, bare: 12_000, loop: 60_000 },
  comparisons: [
    { figure: 'rowsPerSecond', to: 'bare', goal: { atLeast: 3.5 } },
    { figure: 'cpuMicroseconds', to: 'bare', goal: { atMost: 0.2 } },
    { figure: 'peakMb', to: 'bare' },
    { figure: 'rowsPerSecond', to: 'loop' },
    { figure: 'cpuMicroseconds', to: 'loop' },
  ],
});

// With 50 calls of 50 ms in flight, no program makes more than 1,000 calls a second.

export const redisSlow = throughput({
  name: 'redis-50ms',
  datastore: redisKind,
  latencyMs: 50,
  turns: 3,
  rows: { ours: 12_000, bare: 12_000 },
  comparisons: [
    { figure: 'rowsPerSecond', to: 'bare', goal: { atLeast: 1 } },
    { figure: 'cpuMicroseconds', to: 'bare', goal: { atMost: 1.25 } },
  ],
});

export const redisTls = throughput({
  name: 'redis-tls',
  datastore: redisKind,
  latencyMs: 50,
  tls: true,
  turns: 3,
  rows: { ours: 12_000, bare: 12_000 },
  comparisons: [
    { figure: 'rowsPerSecond', to: 'bare', goal: { atLeast: 1 } },
    { figure: 'cpuMicroseconds', to: 'bare', goal: { atMost: 1.2 } },
    // The first connections are made at the same time, and each later one is the second or third in its place.
    { figure: 'resumedPercent', to: 'bare', comparison: 'value', goal: { atLeast: 60 } },
  ],
});

export const embeddedSlow = throughput({
  name: 'embedded-50ms',
  datastore: embeddedKind,
  latencyMs: 50,
  turns: 3,
  rows: { ours: 12_000, bare: 8_000 },
  comparisons: [
    { figure: 'rowsPerSecond', to: 'bare', goal: { atLeast: 1 } },
    { figure: 'cpuMicroseconds', to: 'bare', goal: { atMost: 0.4 } },
  ],
});

/**
 * @param {Throughput} scenario
 * @returns {import('./scenario.js').Scenario}
 */
function throughput({ name, datastore, latencyMs, tls, turns, rows, comparisons }) {
  return {
    name,
    needsRedis: datastore === redisKind,
    async run(context) {
      const { quick, folder } = context;
      const fewer = (/** @type {number} */ number) => (quick ? number / 40 : number);
      const source = await writeManifest(folder, fewer(rows.ours));
      /** @type {(api: import('../measure/local-api.js').LocalApi) => Promise<Record<string, readonly Figures[]>>} */
      const compete = ({ url: baseUrl, authority, takeHandshakes }) => {
        const measure = async (
          /** @type {'bare-worker' | 'run'} */ program,
          /** @type {number} */ rows,
          /** @type {object} */ options,
        ) => {
          await takeHandshakes();
          const all = { baseUrl, authority, ...options };
          const figures = await datastore.measure({ folder, program, rows, options: all });
          const handshakes = await takeHandshakes();
          const resumedPercent = (100 * handshakes.resumed) / Math.max(1, handshakes.all);
          return tls ? { ...figures, resumedPercent } : figures;
        };
        const bare = { concurrency, ...datastore.feeding, rows: fewer(rows.bare) };
        /** @type {Record<string, () => Promise<Figures>>} */
        const contestants = {
          bare: () => measure('bare-worker', bare.rows, bare),
          ours: () => measure('run', fewer(rows.ours), { source }),
        };
        if (rows.loop !== undefined) {
          const loop = { baseUrl, concurrency, rows: fewer(rows.loop) };
          contestants['loop'] = () => measureProgram('undici-loop', loop);
        }
        return inTurns(quick ? 1 : turns, contestants, context);
      };
      const samples = await (tls ? withTlsApi(latencyMs, folder, compete) : withLocalApi(latencyMs, compete));
      return comparisons.map(({ figure, to, comparison = 'ratio', ...goal }) =>
        lineAbout(figure, {
          ...goal,
          title: `${datastore.name}, API of ${latencyMs} ms${tls ? ' over TLS' : ''}${titles[figure]}`,
          ours: samples['ours'] ?? [],
          reference: samples[to] ?? [],
          referenceName: referenceNames[to],
          comparison,
        }),
      );
    },
  };
}
