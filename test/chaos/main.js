// @ts-check
/**
 * Random runs with real processes: `npm run chaos [-- --seed N] [--from ROUND] [--rounds M] [--minutes M]`. See
 * CONTRIBUTING.md.
 *
 * Seed and number alone determine a round. The exit code is 1 when a promise was broken, and when no round was played.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** @typedef {import('./result.ts').RoundResult} RoundResult */

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    from: { type: 'string', default: '1' },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
  },
});
const seed = Number(values.seed);
const from = Number(values.from);
const minutes = Number(values.minutes ?? 'Infinity');
const rounds = Number(values.rounds ?? (values.minutes === undefined ? 5 : 'Infinity'));
if (!existsSync(join(root, 'dist/bin/cqbatch.js')))
  throw new Error('The project is not built: type "npm run build" first.');

const folder = await mkdtemp(join(tmpdir(), 'cqbatch-chaos-result-'));
process.on('exit', () => void rm(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
process.stdout.write(`seed ${seed}\n`);
const until = performance.now() + minutes * 60_000;
let longest = 0;
let played = 0;
let broken = 0;
// A round starts only if one as long as the longest so far would end in time.
for (let round = from; round < from + rounds && performance.now() + longest < until; round += 1) {
  const startedAt = performance.now();
  const result = await play(round);
  longest = Math.max(longest, performance.now() - startedAt);
  played += 1;
  process.stdout.write(`${round}: ${result.line}\n`);
  if (result.violations.length === 0) continue;
  broken += 1;
  const { violations, story, kept } = result;
  process.stdout.write(
    `${[...violations.map((violation) => `  broken: ${violation}`), ...story.map((line) => `    ${line}`)].join('\n')}\n` +
      `  Its files are in ${kept}. To play it again: npm run chaos -- --seed ${seed} --from ${round} --rounds 1\n`,
  );
}
process.stdout.write(`seed ${seed}: ${played} rounds played, ${broken} broke a promise\n`);
process.exit(played > 0 && broken === 0 ? 0 : 1);

/** @param {number} round @returns {Promise<RoundResult>} */
async function play(round) {
  const file = join(folder, `${round}.json`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config', 'test/chaos/vitest.config.ts'], {
    cwd: root,
    env: { ...process.env, CHAOS_SEED: String(seed), CHAOS_ROUND: String(round), CHAOS_RESULT: file },
    stdio: ['ignore', 'pipe', 'pipe'],
    // All of its processes form a group, which is ended with it.
    detached: true,
  });
  const end = () => endGroup(child.pid);
  process.once('exit', end);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  await once(child, 'exit');
  process.off('exit', end);
  end();
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return {
      line: 'could not be played',
      violations: ['the round has failed'],
      story: said.split('\n'),
      kept: '',
    };
  }
}

/** @param {number | undefined} pid */
function endGroup(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
