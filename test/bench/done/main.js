// @ts-check
/**
 * Time until a job is done, beside what people would use instead: `npm run bench:done [-- [--rows N] [--at-once N] [name…]]`, with names
 * of contestants or of APIs. See docs/benchmarks.md.
 *
 * Each contestant starts without knowing the limit. It runs to its end; then once more from the start, killed with all its processes when
 * half of the rows are done, and started a second time. Two run at the same time, each against a sandbox of its own: they wait mostly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { aligned } from '../measure/table.js';
import { startApi } from './api.js';
import { contestants } from './contestants.js';
import { start } from './processes.js';

/** The limits, as `cqbatch sandbox` takes them. */
const apis = {
  bucket: { title: '50/s, token bucket', limit: 'token-bucket:rate=50,burst=10', latency: '20ms' },
  window: {
    title: '600 a minute, not stated',
    limit: 'fixed-window:limit=600,window=1m',
    latency: '20ms',
    retryAfter: 'none',
  },
  flight: { title: '6 calls in flight', limit: 'concurrency:limit=6', latency: '80ms' },
  free: { title: 'no limit, 80 ms', limit: 'none', latency: '80ms' },
};

/** A run that takes longer than this is ended, milliseconds. */
const longestMs = 3_600_000;

/**
 * @typedef {object} Outcome
 * @property {string} api
 * @property {string} contestant
 * @property {number} minutes until the last row was done
 * @property {number} refused calls until then
 * @property {number} failed rows that were never done, without a kill
 * @property {number} lost rows that were never done, after a kill and a second start
 * @property {number} twice rows that were done more than once after it
 * @property {number} unmarked of these, rows that the contestant does not name
 */

const { values, positionals } = parseArgs({
  options: { rows: { type: 'string', default: '5000' }, 'at-once': { type: 'string', default: '2' } },
  allowPositionals: true,
});
const rows = Number(values.rows);
const chosen = (/** @type {readonly string[]} */ names) =>
  names.some((name) => positionals.includes(name))
    ? names.filter((name) => positionals.includes(name))
    : names;

const folder = mkdtempSync(join(tmpdir(), 'cqbatch-done-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
  process.once(signal, () => process.exit(1));

/** @type {Outcome[]} */
const outcomes = [];
const limit = pLimit(Number(values['at-once']));
for (const api of /** @type {(keyof typeof apis)[]} */ (chosen(Object.keys(apis)))) {
  const here = chosen(Object.keys(contestants)).filter((name) => contestants[name]?.isThere());
  outcomes.push(...(await limit.map(here, (name) => measure(api, name))));
}
process.stdout.write(`${rows} rows.\n\n${tableOf(outcomes)}`);
process.exit();

/** @returns {Promise<Outcome>} */
async function measure(/** @type {keyof typeof apis} */ api, /** @type {string} */ contestant) {
  const whole = await play(api, contestant, { kill: false });
  const killed = await play(api, contestant, { kill: true });
  const { title } = apis[api];
  const outcome = {
    api: title,
    contestant,
    minutes: whole.minutes,
    refused: whole.refused,
    failed: whole.lost,
    lost: killed.lost,
    twice: killed.twice,
    unmarked: killed.unmarked,
  };
  process.stderr.write(`${JSON.stringify(outcome)}\n`);
  return outcome;
}

/** One job, from its start to the end of the program. */
async function play(
  /** @type {keyof typeof apis} */ name,
  /** @type {string} */ contestant,
  /** @type {{ kill: boolean }} */ { kill },
) {
  const { title: _, ...behavior } = apis[name];
  const api = await startApi(behavior, rows);
  const own = join(folder, `${name}-${contestant}-${kill}`);
  await mkdir(own);
  const job = await contestants[contestant]?.prepare({ folder: own, url: api.url, rows });
  if (job === undefined) throw new Error(`There is no contestant ${contestant}.`);
  try {
    if (kill) {
      const first = start(job.command, own);
      await Promise.race([api.done(Math.floor(rows / 2)), first.ended]);
      await first.kill();
    }
    const last = start(job.command, own);
    const limit = setTimeout(() => last.kill(), longestMs);
    await last.ended;
    clearTimeout(limit);
    return api.found((await job.marked?.()) ?? new Set());
  } finally {
    await job.close?.();
    api.close();
  }
}

function tableOf(/** @type {readonly Outcome[]} */ outcomes) {
  const header = [
    'API',
    'with',
    'minutes',
    'refused calls',
    'rows not done',
    'not done after a kill',
    'done twice after it',
    'without a mark',
  ];
  return aligned([
    header,
    ...outcomes.map(({ api, contestant, minutes, refused, failed, lost, twice, unmarked }) => [
      api,
      contestants[contestant]?.title ?? '',
      minutes.toFixed(1),
      ...[refused, failed, lost, twice, unmarked].map(String),
    ]),
  ]);
}
