// @ts-check
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atOnce } from '../measure/at-once.js';
import { callsPerSecondOf } from '../measure/calls-in-flight.js';
import { secondsUntilFewRejected, secondsUntilQuiet, secondsUntilRate } from '../measure/changed-limit.js';
import { lineAbout } from '../measure/figures.js';
import { callsToTheEnd, callsUntil, possibleWays } from '../measure/governed-run.js';
import { changeAfterMs, changingModels, latencyMs, steadyModels } from '../measure/limit-models.js';
import { endAfter, rejectedCalls, usedCalls, warmUpMs } from '../measure/permitted-calls.js';
import { inTurns } from '../measure/samples.js';

/** @typedef {import('../measure/governed-run.js').Way} Way */
/** @typedef {import('../measure/limit-models.js').ChangingModel} ChangingModel */
/** @typedef {import('../measure/limit-models.js').LimitModel} LimitModel */
/** @typedef {import('../measure/limit-models.js').SteadyModel} SteadyModel */
/** @typedef {import('../measure/line.js').Line} Line */
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

const latency = ['--latency', `${latencyMs}ms`];

/**
 * How well `cqbatch run` finds and holds the limit of a sandbox, as the sandbox sees it. All are separate processes.
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
    const source = join(folder, 'limited.csv');
    await writeRestores(source, limitedRows);
    const chosen = (/** @type {LimitModel} */ model) => model.quick || !quick;
    // A failed measurement must not lose the others.
    const tried = (/** @type {() => Promise<readonly Line[]>} */ measure) => () =>
      measure().catch((error) => broken(error, say));
    const steadily = (/** @type {readonly SteadyModel[]} */ models) =>
      models
        .filter(chosen)
        .flatMap((model) => ways.map((way) => tried(() => steady(context, { model, way, source }))));
    const limited = await atOnce(measuredAtOnce, [
      ...steadily(steadyModels.filter(({ permits }) => !('inFlight' in permits))),
      ...changingModels
        .filter(chosen)
        .flatMap((model) => ways.map((way) => tried(() => changing(context, { model, way, source })))),
    ]);
    // Where the speed of the machine counts, nothing else runs meanwhile.
    const alone = await atOnce(1, [
      ...steadily(steadyModels.filter(({ permits }) => 'inFlight' in permits)),
      ...ways.filter(({ workers }) => workers === 0).map((way) => tried(() => unlimited(context, way))),
    ]);
    return [...limited, ...alone].flat();
  },
};

/**
 * @param {Context} context
 * @param {{ model: SteadyModel, way: Way, source: string }} measurement
 * @returns {Promise<readonly Line[]>}
 */
async function steady({ quick, folder, say }, { model, way, source }) {
  const { informative } = model;
  const permits =
    'inFlight' in model.permits
      ? { perSecond: await callsPerSecondOf(model.permits.inFlight, latency) }
      : model.permits;
  if ('windowMs' in permits) await freshWindow(permits.windowMs);
  const seconds = quick ? 30 : model.seconds;
  let end = 0;
  const calls = await callsUntil({ folder, source, way, sandbox: sandboxFor(model) }, (first) => {
    end = endAfter(permits, first, 1_000 * seconds);
    return end;
  });
  const { whole, worstSlice } = usedCalls(permits, calls, end);
  const { made, rejected } = rejectedCalls(calls, (calls[0]?.at ?? 0) + warmUpMs, end);
  const title = `${way.name}, ${model.title}`;
  say(
    `  ${title}: used ${percent(whole.used / whole.permitted)}, ` +
      `in the worst slice ${percent(worstSlice.used / worstSlice.permitted)}, rejected ${percent(rejected / made)}`,
  );
  const line = /** @type {const} */ ({ unit: 'calls/s', comparison: 'share' });
  return [
    {
      ...line,
      title: `${title}: used`,
      ours: [whole.used],
      reference: [whole.permitted],
      referenceName: 'permitted',
      goal: { atLeast: informative ? 0.97 : 0.95 },
    },
    {
      ...line,
      title: `${title}: worst slice`,
      ours: [worstSlice.used],
      reference: [worstSlice.permitted],
      referenceName: 'permitted',
    },
    {
      ...line,
      title: `${title}: rejected`,
      ours: [rejected],
      reference: [made],
      referenceName: 'made',
      goal: { atMost: informative ? 0.001 : 0.01 },
    },
  ];
}

/**
 * @param {Context} context
 * @param {{ model: ChangingModel, way: Way, source: string }} measurement
 * @returns {Promise<readonly Line[]>}
 */
async function changing({ folder, say }, { model, way, source }) {
  const changed = { change: 0, end: 0 };
  const calls = await callsUntil({ folder, source, way, sandbox: sandboxFor(model) }, (first) => {
    changed.change = first + changeAfterMs;
    changed.end = first + 1_000 * model.seconds;
    return changed.end;
  });
  const limit = { ...changed, calls };
  const lineOf = (/** @type {string} */ what, /** @type {number} */ seconds) => {
    const title = `${way.name}, ${model.title}: ${what}`;
    say(`  ${title} after ${seconds} s`);
    return /** @type {const} */ ({
      title,
      unit: 's',
      ours: [seconds],
      reference: [0],
      referenceName: 'the change',
      comparison: 'difference',
    });
  };
  if (model.riseTo !== undefined) {
    const risen = lineOf('nine tenths used', secondsUntilRate(limit, 0.9 * model.riseTo));
    return [{ ...risen, goal: { atMost: 30 } }];
  }
  // A probe of a higher limit is one call of a few hundred, but more than 1 % of a slice of 5 s.
  return [
    { ...lineOf('30 s quiet', secondsUntilFewRejected(limit)), goal: { atMost: 5 } },
    lineOf('every 5 s quiet', secondsUntilQuiet(limit)),
  ];
}

/**
 * @param {Context} context
 * @param {Way} way
 * @returns {Promise<readonly Line[]>}
 */
async function unlimited({ quick, folder, say, keep }, way) {
  const rows = (way.redis ? 40_000 : 20_000) / (quick ? 5 : 1);
  const source = join(folder, 'unlimited.csv');
  await writeRestores(source, rows);
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

function sandboxFor(/** @type {LimitModel} */ { limit, answers }) {
  return [...latency, '--limit', limit, ...answers];
}

/** Waits for the start of a window of the clock. */
async function freshWindow(/** @type {number} */ windowMs) {
  const elapsed = Date.now() % windowMs;
  if (elapsed > startWithinMs) await sleep(windowMs - elapsed);
}

async function writeRestores(/** @type {string} */ path, /** @type {number} */ rows) {
  const lines = Array.from({ length: rows }, (_, row) => `${row + 1},supervisor-${row % 40}\n`);
  await writeFile(path, `evaluation_id,user_id\n${lines.join('')}`);
}

/** @returns {Promise<readonly Line[]>} */
async function broken(/** @type {Error} */ error, /** @type {(text: string) => void} */ say) {
  say(`  broken: ${error.stack}`);
  process.exitCode = 1;
  // It may have failed because everything is being stopped: then nothing may start before this process has ended.
  await sleep(afterTroubleMs);
  return [];
}

function percent(/** @type {number} */ share) {
  return `${(100 * share).toFixed(2)} %`;
}
