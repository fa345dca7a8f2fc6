// @ts-check
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { measureProgram, startScript } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { withLeanApi } from '../measure/local-api.js';
import { withRedis } from '../measure/redis.js';
import { inTurns } from '../measure/samples.js';
import { startWorker, withWorkers } from '../measure/worker.js';

/** @typedef {import('./scenario.js').Context} Context */
/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('../measure/figures.js').Figures} Figures */

const sizes = [1, 10, 100, 500];
const perSeconds = [50, 2_000];
const measuredSeconds = 4;
const quickSizes = [1, 20];

const rowsOfRun = 40_000;
const concurrency = 50;

/**
 * The cost of workers that share a Redis, idle and at a rate, and how many rows one coordinator can feed and collect.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const fleet = {
  name: 'fleet',
  needsRedis: true,
  async run(context) {
    const lines = await idle(context);
    for (const perSecond of perSeconds) lines.push(...(await atRate(perSecond, context)));
    return [...lines, ...(await coordinator(context))];
  },
};

/** @returns {Promise<Line[]>} */
async function idle(/** @type {Context} */ context) {
  const { many, lineOf } = await measureSizes('fleet-idle', {}, context);
  const title = `Redis, ${many} idle workers`;
  return [
    lineOf('redisPercentEach', `${title}: CPU of Redis for each`, { atMost: 0.05 }),
    lineOf('redisPercent', `${title}: CPU of Redis`, { atMost: 30 }),
    lineOf('awakeMs', `${title}: from a new run to its first call`, { atMost: 200 }),
  ];
}

/**
 * @param {number} perSecond
 * @param {Context} context
 * @returns {Promise<Line[]>}
 */
async function atRate(perSecond, context) {
  const { many, lineOf } = await measureSizes('fleet-at-rate', { perSecond }, context);
  const title = `Redis, ${many} workers share ${perSecond}/s`;
  return [
    lineOf('redisPercent', `${title}: CPU of Redis`, { atMost: 30 }),
    lineOf('usedPercent', `${title}: used`),
    lineOf('refusedPercent', `${title}: refused`),
    lineOf('everywhereMs', `${title}: until all keep a new rate`),
  ];
}

/**
 * Measures a program with one membership, with the most, and with numbers between.
 *
 * @param {'fleet-idle' | 'fleet-at-rate'} program
 * @param {object} options
 * @param {Context} context
 */
async function measureSizes(program, options, context) {
  const { quick, folder } = context;
  const members = quick ? quickSizes : sizes;
  const seconds = quick ? 1 : measuredSeconds;
  const nameOf = (/** @type {number} */ number) => `${number} worker${number === 1 ? '' : 's'}`;
  const measure = (/** @type {number} */ number) => () =>
    withRedis(
      folder,
      ({ url: queue }) =>
        /** @type {Promise<Figures>} */ (
          measureProgram(program, { ...options, queue, members: number, seconds })
        ),
    );
  const samples = await inTurns(
    1,
    Object.fromEntries(members.map((number) => [nameOf(number), measure(number)])),
    context,
  );
  const many = members.at(-1) ?? 1;
  return {
    many,
    lineOf: (
      /** @type {import('../measure/figures.js').FigureName} */ figure,
      /** @type {string} */ title,
      /** @type {readonly import('../measure/line.js').Goal[]} */ ...[goal]
    ) =>
      lineAbout(figure, {
        title,
        ours: samples[nameOf(many)] ?? [],
        reference: samples[nameOf(1)] ?? [],
        referenceName: 'one worker',
        comparison: 'value',
        goal,
      }),
  };
}

/**
 * Whole runs whose rows are called elsewhere: by workers that make HTTP requests, and by two that answer themselves.
 *
 * @param {Context} context
 * @returns {Promise<Line[]>}
 */
function coordinator(context) {
  const { quick, folder } = context;
  const rows = quick ? 2_000 : rowsOfRun;
  return withLeanApi(async ({ url: baseUrl }) => {
    const source = await writeManifest(folder, rows);
    const measure =
      (
        /** @type {number} */ number,
        /** @type {(options: { queue: string, baseUrl: string, stateDir: string }) => Promise<Started>} */ start,
      ) =>
      () =>
        withRedis(folder, async ({ url: queue, cpuMs }) => {
          const stateDir = join(folder, 'state');
          const starts = Array(number).fill(() => start({ queue, baseUrl, stateDir }));
          const figures = await withWorkers(starts, async () => {
            const before = await cpuMs();
            const options = { stateDir, source, baseUrl, queue, calls: false };
            const { rowsPerSecond, cpuMicroseconds } =
              /** @type {import('../programs/stopwatch.js').Speed} */ (await measureProgram('run', options));
            const redisCpuMicroseconds = (1_000 * ((await cpuMs()) - before)) / rows;
            return { rowsPerSecond, cpuMicroseconds, redisCpuMicroseconds };
          });
          await rm(stateDir, { recursive: true, force: true });
          return figures;
        });
    const { one, two, four, answered } = await inTurns(
      1,
      {
        one: measure(1, startCalling),
        two: measure(2, startCalling),
        four: measure(4, startCalling),
        answered: measure(2, startAnswering),
      },
      context,
    );
    const beside = {
      reference: one,
      referenceName: 'one worker',
      comparison: /** @type {const} */ ('value'),
    };
    const called = (/** @type {readonly Figures[]} */ ours, /** @type {string} */ workers) =>
      lineAbout('rowsPerSecond', {
        ...beside,
        title: `Redis, one coordinator, ${workers}, API of 0 ms`,
        ours,
      });
    return [
      called(two, 'two workers'),
      called(four, 'four workers'),
      lineAbout('rowsPerSecond', {
        ...beside,
        title: 'Redis, one coordinator, nothing is called',
        ours: answered,
        goal: { atLeast: 10_000 },
      }),
      lineAbout('cpuMicroseconds', {
        ...beside,
        title: 'Redis, one coordinator, nothing is called: its CPU for a row',
        ours: answered,
      }),
    ];
  });
}

/** @typedef {{ stop(): Promise<void> }} Started */

/** @returns {Promise<Started>} */
function startCalling(/** @type {{ queue: string, baseUrl: string, stateDir: string }} */ options) {
  return startWorker({ ...options, concurrency });
}

/** @returns {Promise<Started>} */
async function startAnswering(/** @type {{ queue: string, baseUrl: string }} */ options) {
  const script = new URL('../programs/answering-worker.js', import.meta.url);
  const child = startScript(script, [JSON.stringify(options)]);
  await once(child, 'message');
  return {
    async stop() {
      child.kill();
      await once(child, 'close');
    },
  };
}
