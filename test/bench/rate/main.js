// @ts-check
/**
 * How the governor copes with every kind of limiter, in simulated time: `npm run bench:rate [-- [--workers N] [--seeds N]
 * [--verbose] [MODEL…]]`. See docs/rate.md.
 *
 * The exit code says whether the simulation worked, not whether the figures are good.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { doInThreads } from '../../helpers/threads.js';
import { models } from './models.js';
import { table } from './table.js';

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
const { workers, seeds, verbose, titles } = readArguments();
process.stdout.write(table(await simulated()));

async function simulated() {
  /** @type {readonly (import('./play.js').Game & { condition: string })[]} */
  const games = chosenGames();
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

function chosenGames() {
  const chosen = models.filter(({ title }) => titles.length === 0 || titles.includes(title));
  return chosen.flatMap((model) =>
    conditions
      .filter(({ name }) => model.conditions?.includes(name) ?? name !== 'X-RateLimit')
      .map((condition) => ({
        model,
        condition: condition.name,
        world: { workers, ...model.world, ...condition.world },
        seeds: model.isAlike ? 1 : seeds,
      })),
  );
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        workers: { type: 'string', default: '1' },
        seeds: { type: 'string', default: '5' },
        verbose: { type: 'boolean', default: false },
      },
    });
    const unknown = positionals.find((name) => !models.some(({ title }) => title === name));
    if (unknown !== undefined) throw new Error(`There is no model "${unknown}".`);
    return {
      workers: wholeNumber('--workers', values.workers),
      seeds: wholeNumber('--seeds', values.seeds),
      verbose: values.verbose,
      titles: positionals,
    };
  } catch (error) {
    return stopBecause(
      `${/** @type {Error} */ (error).message}\n` +
        'Usage: npm run bench:rate -- [--workers N] [--seeds N] [--verbose] [MODEL…]\n' +
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
