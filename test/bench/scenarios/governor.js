// @ts-check
import { setTimeout as sleep } from 'node:timers/promises';
import { writeManifest } from '../manifest.js';
import { atOnce } from '../measure/at-once.js';
import { lineAbout } from '../measure/figures.js';
import { callsToTheEnd, callsUntil, possibleWays } from '../measure/governed-run.js';
import { inTurns } from '../measure/samples.js';
import { contestLimits } from '../rate/contest/limits.js';
import { figuresOf } from '../rate/figures.js';
import { countIn, emptySeconds, ideal } from '../rate/simulation.js';

/** @typedef {import('../measure/governed-run.js').Way} Way */
/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('../rate/world.ts').ContestLimit} ContestLimit */
/** @typedef {import('./scenario.js').Context} Context */

/**
 * Limits that are measured at the same time. Each takes a minute or more but little CPU time, most of it for starting its up to
 * six processes. More at a time would delay calls on two cores, so that the limits would not be fully used.
 */
const measuredAtOnce = 2;

/** More calls than any limit permits during its measurement. */
const limitedRows = 20_000;

/** A run could not use all of a window that began earlier. */
const startWithinMs = 20_000;

const afterTroubleMs = 1_000;

const latency = ['--latency', '50ms'];

/**
 * How well `cqbatch run` finds and holds the limit of a sandbox, as the sandbox sees it, by the figures of the simulation. All
 * are separate processes.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const governor = {
  name: 'governor',
  long: true,
  async run(context) {
    const { folder, quick, say } = context;
    const ways = possibleWays();
    if (ways.length === 1) say('  redis-server and valkey-server are missing: embedded only');
    const source = await writeManifest(folder, limitedRows, 1n);
    // A failed measurement must not lose the others.
    const tried = (/** @type {() => Promise<readonly Line[]>} */ measure) => () =>
      measure().catch((error) => broken(error, say));
    const limits = contestLimits.filter(
      ({ world, isQuick }) => world.limit !== 'none' && (isQuick || !quick),
    );
    const measuring = (/** @type {readonly ContestLimit[]} */ models) =>
      models.flatMap((model) => ways.map((way) => tried(() => limited(context, { model, way, source }))));
    const together = await atOnce(measuredAtOnce, measuring(limits.filter((model) => !isOfSpeed(model))));
    // Where the speed of the machine counts, nothing else runs meanwhile.
    const alone = await atOnce(1, [
      ...measuring(limits.filter(isOfSpeed)),
      ...ways.filter(({ workers }) => workers === 0).map((way) => tried(() => unlimited(context, way))),
    ]);
    return [...together, ...alone].flat();
  },
};

/** Each call takes some milliseconds beyond those of the API, so that calls in flight are fewer a second than in the simulation. */
function isOfSpeed(/** @type {ContestLimit} */ { world }) {
  return world.limit.startsWith('concurrency');
}

/**
 * @param {Context} context
 * @param {{ model: ContestLimit, way: Way, source: string }} measurement
 * @returns {Promise<readonly Line[]>}
 */
async function limited({ quick, folder, say }, { model, way, source }) {
  const { limit, headers, retryAfter } = model.world;
  const changes = model.dropsAt !== undefined || model.risesAt !== undefined;
  const world = { ...model.world, seconds: quick && !changes ? 30 : model.world.seconds };
  const windowMs = !limit.startsWith('fixed-window') ? 1 : model.judged ? 60_000 : 1_000;
  const elapsed = Date.now() % windowMs;
  if (elapsed > startWithinMs) await sleep(windowMs - elapsed);
  const answers = [...(retryAfter ? [] : ['--retry-after', 'none']), '--limit-headers', headers ?? 'none'];
  const sandbox = [...latency, '--limit', limit, ...answers];
  let begin = 0;
  const calls = await callsUntil({ folder, source, way, sandbox }, (first) => {
    begin = Math.floor(first / windowMs) * windowMs;
    return begin + 1_000 * world.seconds;
  });
  const seconds = emptySeconds(world.seconds);
  for (const { at, throttled } of calls) countIn(seconds, at - begin, throttled ? 'rejected' : 'accepted');
  const figures = figuresOf({ ...model, world }, seconds, ideal(world));
  const title = `${way.name}, ${model.title}`;
  say(`  ${title}: ${JSON.stringify(figures)}`);
  const share = (
    /** @type {string} */ what,
    /** @type {string} */ of,
    /** @type {number} */ value,
    /** @type {Line['goal']} */ goal,
  ) =>
    /** @type {Line} */ ({
      ...{ title: `${title}: ${what}`, unit: '%', comparison: 'share', goal },
      ...{ ours: [100 * value], reference: [100], referenceName: of },
    });
  const change = (/** @type {string} */ what, /** @type {number} */ after, /** @type {number} */ atMost) =>
    /** @type {Line} */ ({
      ...{ title: `${title}: ${what}`, unit: 's', comparison: 'value', goal: { atMost } },
      ...{ ours: [after], reference: [0], referenceName: 'the change' },
    });
  if (figures.risenAfter !== undefined) return [change('nine tenths used', figures.risenAfter, 30)];
  if (figures.droppedAfter !== undefined) return [change('30 s quiet', figures.droppedAfter, 5)];
  const used = isOfSpeed(model) ? 0.9 : headers ? 0.97 : 0.95;
  return [
    share('used', 'permitted', figures.used, { atLeast: used }),
    share('rejected', 'made', figures.rejected, { atMost: headers ? 0.001 : 0.01 }),
  ];
}

/**
 * @param {Context} context
 * @param {Way} way
 * @returns {Promise<readonly Line[]>}
 */
async function unlimited({ quick, folder, say, keep }, way) {
  const rows = (way.redis ? 40_000 : 20_000) / (quick ? 5 : 1);
  const source = await writeManifest(folder, rows, 1n);
  const measure = (/** @type {string} */ rate) => async () => {
    const calls = await callsToTheEnd({ folder, source, way, sandbox: latency, options: ['--rate', rate] });
    if (calls.length !== rows) throw new Error(`${calls.length} calls for ${rows} rows.`);
    return { rowsPerSecond: (1_000 * rows) / ((calls.at(-1)?.at ?? 0) - (calls[0]?.at ?? 0)) };
  };
  const samples = await inTurns(
    quick ? 1 : 3,
    { '--rate none': measure('none'), '--rate auto': measure('auto') },
    { say, keep },
  );
  return [
    lineAbout('rowsPerSecond', {
      title: `${way.name}, no limit`,
      ours: samples['--rate auto'],
      reference: samples['--rate none'],
      referenceName: '--rate none',
      comparison: 'ratio',
      goal: { atLeast: 0.9 },
    }),
  ];
}

/** @returns {Promise<readonly Line[]>} */
async function broken(/** @type {Error} */ error, /** @type {(text: string) => void} */ say) {
  say(`  broken: ${error.stack}`);
  process.exitCode = 1;
  // It may have failed because everything is being stopped: then nothing may start before this process has ended.
  await sleep(afterTroubleMs);
  return [];
}
