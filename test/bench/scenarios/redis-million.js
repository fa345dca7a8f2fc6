// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { cqbatch, measureProgram } from '../measure/child.js';
import { withLeanApi } from '../measure/local-api.js';
import { withRedis } from '../measure/redis.js';
import { median } from '../measure/samples.js';
import { measureScript } from '../measure/usage.js';

/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('../programs/run.js').Moment} Moment */
/** @typedef {import('../programs/run.js').RunFigures} RunFigures */

/** Much more than any machine should need. */
const limitMs = 60 * 60_000;

export const redisMillion = longRun('redis-million', 1_000_000);
export const redisTenMillion = longRun('redis-ten-million', 10_000_000);

/**
 * Whether a long run uses more and more of Redis, or of its own process.
 *
 * @param {string} name
 * @param {number} allRows
 * @returns {import('./scenario.js').Scenario}
 */
function longRun(name, allRows) {
  return { name, long: true, needsRedis: true, run: (context) => measure(context, allRows) };
}

/** @returns {Promise<readonly Line[]>} */
async function measure(
  /** @type {import('./scenario.js').Context} */ { quick, folder, say, keep },
  /** @type {number} */ allRows,
) {
  const rows = quick ? 20_000 : allRows;
  if (!quick) say(`  this takes ${Math.ceil(allRows / 500_000)} minutes or more`);
  const stateDir = join(folder, 'state');
  const source = await writeManifest(folder, rows);
  const { memory, figures } = await withLeanApi(({ url: baseUrl }) =>
    withRedis(folder, async ({ url: queue, memory }) => {
      const empty = await memory();
      const run = { stateDir, source, baseUrl, queue };
      const figures = /** @type {RunFigures} */ (await measureProgram('run', run, limitMs));
      const { used: left, peak } = await memory();
      return { memory: { empty: empty.used, peak, left }, figures };
    }),
  );
  // Ends with an exit code above 0, and so breaks the scenario, when the files of the run do not agree.
  const verify = [cqbatch, 'verify', '--quiet', '--state-dir', stateDir];
  const verification = await measureScript(verify, { usageFile: join(folder, 'usage.json') });
  await rm(stateDir, { recursive: true });
  const { course, ...whole } = figures;
  keep({ contestant: 'ours', turn: 1, ...whole });

  // The first fiftieth is a warm-up, and in the last hundredth nothing is fed any more: rows then cost less.
  const first = stretch(course, 0.02 * rows, 0.12 * rows);
  const last = stretch(course, 0.89 * rows, 0.99 * rows);
  say(
    `  Redis ${megabytes(memory.empty)} empty, ${megabytes(memory.peak)} at the peak, ` +
      `${megabytes(memory.left)} afterwards; process ${megabytes(first.residentMb)}, then ${megabytes(last.residentMb)}`,
  );

  const of = `of ${rows.toLocaleString('en')} rows`;
  /** @type {(title: string, figures: [ours: number, reference: number], line: Omit<Line, 'title' | 'ours' | 'reference'>) => Line} */
  const line = (title, [one, other], line) => ({ title, ours: [one], reference: [other], ...line });
  const memories = /** @type {const} */ ({ unit: 'MB', comparison: 'difference' });
  const speeding = /** @type {const} */ ({ referenceName: 'in the first', comparison: 'ratio' });
  return [
    line(`Redis, its memory at the peak ${of}`, [memory.peak, memory.empty], {
      ...memories,
      referenceName: 'empty',
      goal: { atMost: 30 },
    }),
    line(`Redis, memory of the process, last tenth ${of}`, [last.residentMb, first.residentMb], {
      ...memories,
      referenceName: 'in the first',
      goal: { atMost: 30 },
    }),
    line(`Redis, peak memory of the process ${of}`, [whole.peakMb, first.residentMb], {
      ...memories,
      referenceName: 'in the first tenth',
      comparison: 'value',
      goal: { atMost: 400 },
    }),
    line(`Redis, last tenth ${of}`, [last.rowsPerSecond, first.rowsPerSecond], {
      ...speeding,
      unit: 'rows/s',
      goal: { atLeast: 0.9 },
    }),
    line(
      `Redis, CPU time of the process per row, last tenth ${of}`,
      [last.cpuMicroseconds, first.cpuMicroseconds],
      { ...speeding, unit: 'µs' },
    ),
    line(
      `cqbatch verify, CPU time per row ${of}`,
      [(1_000 * verification.cpuMs) / rows, whole.cpuMicroseconds],
      {
        unit: 'µs',
        referenceName: 'the run',
        comparison: 'ratio',
      },
    ),
    line(`cqbatch verify, peak memory ${of}`, [verification.peakMb, whole.peakMb], {
      unit: 'MB',
      referenceName: 'the run',
      comparison: 'value',
    }),
  ];
}

/**
 * The figures of a part of the run.
 *
 * @param {readonly Moment[]} course
 * @param {number} from rows finished
 * @param {number} to rows finished
 */
function stretch(course, from, to) {
  const begin = course.find(({ rows }) => rows >= from);
  const end = course.find(({ rows }) => rows >= to);
  if (begin === undefined || end === undefined) throw new Error(`No look at row ${from} or ${to}.`);
  const rows = end.rows - begin.rows;
  return {
    rowsPerSecond: (1_000 * rows) / (end.atMs - begin.atMs),
    cpuMicroseconds: (1_000 * (end.cpuMs - begin.cpuMs)) / rows,
    residentMb: median(
      course.slice(course.indexOf(begin), course.indexOf(end) + 1).map(({ residentMb }) => residentMb),
    ),
  };
}

function megabytes(/** @type {number} */ value) {
  return `${Number(value.toPrecision(3))} MB`;
}
