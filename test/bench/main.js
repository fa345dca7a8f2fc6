// @ts-check
/**
 * The benchmarks: `npm run bench [-- [--quick] [--all] [--json FILE] [name…]]`. See docs/benchmarks.md.
 *
 * The exit code says whether everything could be measured, not whether the figures are good.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { cpus, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cqbatch, stopAll } from './measure/child.js';
import { judge } from './measure/line.js';
import { redisProgram } from './measure/redis.js';
import { table } from './measure/table.js';
import { compare } from './scenarios/compare.js';
import { executable } from './scenarios/executable.js';
import { fleet } from './scenarios/fleet.js';
import { guards } from './scenarios/guards.js';
import { parts } from './scenarios/parts.js';
import { plan } from './scenarios/plan.js';
import { embeddedRate, redisRate } from './scenarios/rate.js';
import { redisMillion, redisTenMillion } from './scenarios/redis-million.js';
import { reportPage } from './scenarios/report-page.js';
import { shortRun } from './scenarios/short-run.js';
import { embedded, embeddedSlow, redis, redisSlow, redisTls } from './scenarios/throughput.js';
import { workers } from './scenarios/workers.js';

/** @typedef {import('./measure/line.js').Line} Line */

/** @type {readonly import('./scenarios/scenario.js').Scenario[]} */
const scenarios = [
  ...[redis, embedded, redisSlow, redisTls, embeddedSlow, workers, embeddedRate, redisRate, shortRun],
  ...[parts, fleet, guards, redisMillion, redisTenMillion, executable, plan, compare, reportPage],
];

const { quick, json, chosen } = readArguments();
if (!existsSync(cqbatch)) stopBecause('The project is not built: type "npm run build" first.');

const folder = mkdtempSync(join(tmpdir(), 'cqbatch-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
process.once('SIGINT', () => leave(130));
process.once('SIGTERM', () => leave(143));

/** @type {Line[]} */
const lines = [];
/** @type {({ scenario: string } & import('./scenarios/scenario.js').Sample)[]} */
const samples = [];
for (const { name, needsRedis, run } of chosen) {
  say(`${name}:`);
  if (needsRedis && redisProgram() === undefined) {
    say('  there is no Redis on this machine: left out');
    continue;
  }
  const own = join(folder, name);
  await mkdir(own);
  try {
    lines.push(
      ...(await run({
        quick,
        folder: own,
        say,
        keep: (sample) => samples.push({ scenario: name, ...sample }),
      })),
    );
  } catch (error) {
    say(`  broken: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
    // Otherwise the program under measurement would continue beside the next one.
    await stopAll();
  }
  await rm(own, { recursive: true, force: true });
}

if (lines.length > 0) process.stdout.write(`\n${table(lines)}`);
if (json !== undefined) {
  const figures = lines.map((line) => ({ ...line, medians: judge(line) }));
  const machine = { node: process.version, platform: platform(), cpus: cpus().length };
  const document = { version: 2, at: new Date().toISOString(), quick, machine, lines: figures, samples };
  await writeFile(json, `${JSON.stringify(document, null, 2)}\n`);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
        json: { type: 'string' },
      },
      allowPositionals: true,
    });
    const unknown = positionals.find((name) => !scenarios.some((scenario) => scenario.name === name));
    if (unknown !== undefined) throw new Error(`There is no scenario "${unknown}".`);
    const chosen = scenarios.filter(
      ({ name, long }) => values.all || (positionals.length === 0 ? !long : positionals.includes(name)),
    );
    return { ...values, chosen };
  } catch (error) {
    const names = scenarios.map(({ name }) => name).join(', ');
    const long = scenarios.filter((scenario) => scenario.long).map(({ name }) => name);
    return stopBecause(
      `${/** @type {Error} */ (error).message}\n` +
        `Usage: npm run bench -- [--quick] [--all] [--json FILE] [${names}]\n` +
        `Only when named, or with --all: ${long.join(', ')}`,
    );
  }
}

/** The program under measurement ends first: it writes into the folder that is removed. */
async function leave(/** @type {number} */ exitCode) {
  await stopAll();
  process.exit(exitCode);
}

/** @returns {never} */
function stopBecause(/** @type {string} */ message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function say(/** @type {string} */ text) {
  process.stderr.write(`${text}\n`);
}
