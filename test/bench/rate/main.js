// @ts-check
/**
 * How the governor copes with every kind of limiter, in simulated time: `npm run bench:rate [-- [--latency MS] [--workers N]
 * [--seeds N] [--json FILE] [--verbose] [MODEL…]]`; and how other ways to call cope with some of them: `--contest`. See docs/rate.md.
 *
 * The exit code says whether the simulation worked, not whether the figures are good.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { doInThreads } from '../../helpers/threads.js';
import { contestants } from './contest/contestants.js';
import { contestLimits } from './contest/limits.js';
import { models } from './models.js';
import { contestTable, table } from './table.js';

/** @typedef {import('./world.ts').World} World */
/** @typedef {import('./play.js').Outcome} Outcome */

/** @type {readonly { name: import('./world.ts').Condition, world: Partial<World> }[]} */
const conditions = [
  { name: 'no headers', world: {} },
  { name: '503', world: { limitStatus: 503 } },
  { name: 'Retry-After', world: { retryAfter: true } },
  { name: 'RateLimit', world: { retryAfter: true, headers: 'ratelimit' } },
  { name: 'X-RateLimit', world: { retryAfter: true, headers: 'x-ratelimit' } },
];

if (!existsSync(new URL('../../../dist/src/engine/rate/governor/governor.js', import.meta.url)))
  stopBecause('The project is not built: type "npm run build" first.');
const { latencyMs, workers, seeds, json, verbose, contest, titles } = readArguments();
const lines = await simulated();
process.stdout.write(contest ? contestTable(lines) : table(lines));
if (json !== undefined) {
  const document = { version: 2, at: new Date().toISOString(), latencyMs, workers, seeds, lines };
  await writeFile(json, `${JSON.stringify(document, null, 2)}\n`);
}

async function simulated() {
  /** @type {readonly (import('./play.js').Game & { condition: string })[]} */
  const games = contest ? contestGames() : governorGames();
  /** @type {Outcome[]} */
  const outcomes = [];
  await doInThreads(
    new URL('./play.js', import.meta.url),
    availableParallelism(),
    games,
    (/** @type {Outcome} */ outcome, place) => {
      outcomes[place] = outcome;
    },
  );
  return outcomes.map((outcome, place) => {
    const { model, condition } = /** @type {(typeof games)[number]} */ (games[place]);
    if (verbose)
      for (const [index, { timeline }] of outcome.entries())
        process.stdout.write(`${model.title}, ${condition}, seed ${index + 1}\n${timeline}\n`);
    return { title: model.title, condition, runs: outcome.map(({ figures }) => figures) };
  });
}

function governorGames() {
  return chosen(models).flatMap((model) =>
    conditions
      .filter(({ name }) => model.conditions?.includes(name) ?? name !== 'X-RateLimit')
      .map((condition) => ({
        model,
        condition: condition.name,
        world: { latencyMs, workers, ...model.world, ...condition.world },
        seeds: model.isAlike ? 1 : seeds,
      })),
  );
}

function contestGames() {
  return chosen(contestLimits).flatMap((model) => {
    const { world, perSecond } = model;
    const others = Object.keys(contestants).map((name) => ({
      condition: name,
      contestant: { name, perSecond },
    }));
    return [{ condition: 'ours' }, ...others].map((player) => ({ ...player, model, world, seeds }));
  });
}

/**
 * @template {{ title: string }} Named
 * @param {readonly Named[]} all
 */
function chosen(all) {
  return all.filter(({ title }) => titles.length === 0 || titles.includes(title));
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
        contest: { type: 'boolean', default: false },
      },
    });
    const known = values.contest ? contestLimits : models;
    const unknown = positionals.find((name) => !known.some(({ title }) => title === name));
    if (unknown !== undefined) throw new Error(`There is no model "${unknown}".`);
    return {
      latencyMs: wholeNumber('--latency', values.latency),
      workers: wholeNumber('--workers', values.workers),
      seeds: wholeNumber('--seeds', values.seeds),
      json: values.json,
      verbose: values.verbose,
      contest: values.contest,
      titles: positionals,
    };
  } catch (error) {
    return stopBecause(
      `${/** @type {Error} */ (error).message}\n` +
        'Usage: npm run bench:rate -- [--latency MS] [--workers N] [--seeds N] [--json FILE] [--verbose] [MODEL…]\n' +
        '       npm run bench:rate -- --contest [--seeds N] [--json FILE] [--verbose] [LIMIT…]\n' +
        `Models:\n${titlesOf(models)}\nLimits:\n${titlesOf(contestLimits)}`,
    );
  }
}

function titlesOf(/** @type {readonly { title: string }[]} */ all) {
  return all.map(({ title }) => `  ${title}`).join('\n');
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
