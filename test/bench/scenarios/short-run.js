// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { cqbatch } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi } from '../measure/local-api.js';
import { redisProgram, withRedis } from '../measure/redis.js';
import { inTurns } from '../measure/samples.js';
import { measureScript } from '../measure/usage.js';

/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('../measure/figures.js').Figures} Figures */

/**
 * The time and memory of short commands, from the start of their process to its end: runs of two rows and of 2,000, a plan of a
 * thousand, reading a state folder, and help.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const shortRun = {
  name: 'short-run',
  async run(context) {
    const { folder, say } = context;
    const hasRedis = redisProgram() !== undefined;
    if (!hasRedis) say('  without Redis, which is not installed');
    return withLocalApi(0, ({ url }) =>
      hasRedis
        ? withRedis(folder, (redis) => measure(context, url, redis.url))
        : measure(context, url, undefined),
    );
  },
};

/**
 * @param {import('./scenario.js').Context} context
 * @param {string} baseUrl
 * @param {string | undefined} redis
 * @returns {Promise<readonly Line[]>}
 */
async function measure(context, baseUrl, redis) {
  const { quick, folder } = context;
  const two = await writeManifest(folder, 2);
  const thousand = await writeManifest(folder, 1_000);
  const many = await writeManifest(folder, 2_000);
  const stateDir = join(folder, 'state');
  const shared = join(folder, 'shared');
  const script = (/** @type {readonly string[]} */ args) =>
    measureScript(args, { usageFile: join(folder, 'usage.json'), env: { CQBATCH_TOKEN: 'benchmark' } });
  const ours = (/** @type {readonly string[]} */ ...args) => script([cqbatch, ...args, '--quiet']);
  const runOf = (/** @type {string} */ manifest) => ['run', manifest, '--yes', '--base-url', baseUrl];
  const run = runOf(two);
  const runMany = [...runOf(many), '--rate', 'none'];
  /** @type {Record<string, () => Promise<Figures>>} */
  const contestants = {
    node: () => script(['-e', '0']),
    help: () => ours('--help'),
    'new folder': async () => {
      await rm(stateDir, { recursive: true, force: true });
      return ours(...run, '--state-dir', stateDir);
    },
    // The folder of the previous run, which ended normally.
    'existing folder': () => ours(...run, '--state-dir', stateDir),
    'embedded 2,000': () => ours(...runMany, '--state-dir', stateDir),
    ...(redis !== undefined && {
      redis: () => ours(...run, '--state-dir', shared, '--queue', redis),
      'redis 2,000': () => ours(...runMany, '--state-dir', shared, '--queue', redis),
    }),
    plan: () => ours('plan', thousand, '--state-dir', stateDir),
    status: () => ours('status', '--state-dir', stateDir),
    list: () => ours('list', '--state-dir', stateDir),
  };
  const samples = await inTurns(quick ? 2 : 9, contestants, context);
  const about = (/** @type {string} */ contestant) =>
    /** @type {const} */ ({
      ours: samples[contestant] ?? [],
      reference: samples['node'] ?? [],
      referenceName: 'node -e 0',
      comparison: 'value',
    });
  const time = (
    /** @type {string} */ title,
    /** @type {string} */ contestant,
    ms = Number.POSITIVE_INFINITY,
  ) =>
    lineAbout('wallMs', {
      ...about(contestant),
      title: `${title}: start to end`,
      ...(Number.isFinite(ms) && { goal: { atMost: ms } }),
    });
  const memory = (/** @type {string} */ title, /** @type {string} */ contestant) =>
    lineAbout('peakMb', { ...about(contestant), title: `${title}: peak memory`, goal: { atMost: 300 } });
  const times = (/** @type {string} */ title, /** @type {string} */ contestant, atMost = 0) =>
    lineAbout('wallMs', { ...about(contestant), title, comparison: 'ratio', goal: { atMost } });
  const existing = 'embedded run of two rows, existing state folder';
  const fresh = 'embedded run of two rows, new state folder';
  return [
    times(`${existing}: start to end`, 'existing folder', 18),
    memory(existing, 'existing folder'),
    time(fresh, 'new folder', 1_000),
    memory(fresh, 'new folder'),
    time('embedded run of 2,000 rows, --rate none', 'embedded 2,000'),
    ...(redis === undefined
      ? []
      : [
          times('run of two rows on Redis: start to end', 'redis', 14),
          time('run of 2,000 rows on Redis, --rate none', 'redis 2,000'),
        ]),
    times('cqbatch --help', 'help', 1.8),
    time('cqbatch plan, CSV of 1,000 rows', 'plan', 250),
    time('cqbatch status', 'status', 150),
    time('cqbatch list', 'list', 150),
  ];
}
