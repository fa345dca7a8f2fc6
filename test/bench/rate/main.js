// @ts-check
/**
 * How the governor copes with every kind of limiter, in simulated time: `npm run bench:rate [-- [--latency MS] [--workers N]
 * [--seeds N] [--json FILE] [--verbose] [MODEL…]]`. See docs/rate.md.
 *
 * The exit code says whether the simulation worked, not whether the figures are good.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { models } from './models.js';
import { table } from './table.js';
import { playAll } from './threads.js';

/** @typedef {import('./world.ts').World} World */

/** @type {readonly { name: import('./world.ts').Condition, world: Partial<World> }[]} */
const conditions = [
  { name: 'no headers', world: {} },
  { name: '503', world: { limitStatus: 503 } },
  { name: 'Retry-After', world: { retryAfter: true } },
  { name: 'RateLimit', world: { retryAfter: true, headers: 'ratelimit' } },
  { name: 'X-RateLimit', world: { retryAfter: true, headers: 'x-ratelimit' } },
];

const { latencyMs, workers, seeds, json, verbose, titles } = readArguments();
if (!existsSync(new URL('../../../dist/src/rate/governor/governor.js', import.meta.url)))
  stopBecause('The project is not built: type "npm run build" first.');
const chosen = models.filter(({ title }) => titles.length === 0 || titles.includes(title));
const games = chosen.flatMap(({ title, world, isAlike, conditions: told }) =>
  conditions
    .filter(({ name }) => told?.includes(name) ?? name !== 'X-RateLimit')
    .map((condition) => ({
      title,
      condition: condition.name,
      world: { latencyMs, workers, ...world, ...condition.world },
      seeds: isAlike ? 1 : seeds,
    })),
);
const lines = (await playAll(games)).map((outcome, place) => {
  const { title, condition } = /** @type {(typeof games)[number]} */ (games[place]);
  if (verbose)
    for (const [index, { timeline }] of outcome.entries())
      process.stdout.write(`${title}, ${condition}, seed ${index + 1}\n${timeline}\n`);
  return { title, condition, runs: outcome.map(({ figures }) => figures) };
});

process.stdout.write(table(lines));
if (json !== undefined) {
  const document = { version: 2, at: new Date().toISOString(), latencyMs, workers, seeds, lines };
  await writeFile(json, `${JSON.stringify(document, null, 2)}\n`);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        latency: { type: 'string', default: '50' },
        workers: { type: 'string', default: '1' },
        seeds: { type: 'string', default: '5' },
        json: { type: 'string' },
        verbose: { type: 'boolean', default: false },
      },
    });
    const unknown = positionals.find((name) => !models.some(({ title }) => title === name));
    if (unknown !== undefined) throw new Error(`There is no model "${unknown}".`);
    return {
      latencyMs: wholeNumber('--latency', values.latency),
      workers: wholeNumber('--workers', values.workers),
      seeds: wholeNumber('--seeds', values.seeds),
      json: values.json,
      verbose: values.verbose,
      titles: positionals,
    };
  } catch (error) {
    return stopBecause(
      `${/** @type {Error} */ (error).message}\n` +
        'Usage: npm run bench:rate -- [--latency MS] [--workers N] [--seeds N] [--json FILE] [--verbose] [MODEL…]\n' +
        `Models:\n${models.map(({ title }) => `  ${title}`).join('\n')}`,
    );
  }
}

/**
 * @param {string} option
 * @param {string} text
 */
function wholeNumber(option, text) {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`${option}: write a whole number from 1, such as 50.`);
  return Number(text);
}

/** @returns {never} */
function stopBecause(/** @type {string} */ message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
