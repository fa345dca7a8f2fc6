// @ts-check
/**
 * Plays whole runs in simulated time: `npm run simulate [-- [--seed N] [--runs M] [--threads N] [--show]]`. If a run breaks a
 * promise, it says what to type to play that run again. The exit code is then 1, and also if 10,000 runs do not reach each rare state. See docs/architecture.md.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { doInThreads } from '../helpers/threads.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '1000' },
    threads: { type: 'string', default: String(availableParallelism()) },
    show: { type: 'boolean', default: false },
  },
});
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const runs = Number(values.runs);
/** This many runs must meet each of the rare states (sometimes.ts): otherwise the search proves nothing about them. */
const enoughRuns = 10_000;
const built = new URL('../../node_modules/.cache/simulation/thread.js', import.meta.url);

await build();
process.stdout.write(`Plays ${runs} runs, seeds ${first} to ${first + runs - 1}.\n`);
const begunAt = performance.now();
let events = 0;
let simulatedMs = 0;
/** @type {number[]} */
const broken = [];
/** @type {Map<string, number>} How many runs have reached each of the rare states. */
const reached = new Map();
/** Seeds that a thread plays before it tells of them. */
const atOnce = 20;
const orders = Array.from({ length: Math.ceil(runs / atOnce) }, (_, index) => {
  const done = index * atOnce;
  return { first: first + done, count: Math.min(atOnce, runs - done), keepLines: values.show };
});
await doInThreads(built, Number(values.threads), orders, tell);
const seconds = (performance.now() - begunAt) / 1_000;
const perMinute = Math.round((runs / seconds) * 60);
process.stdout.write(
  `${runs} runs in ${seconds.toFixed(1)} s (${perMinute} a minute), ${Math.round(simulatedMs / 3_600_000)} simulated hours, ` +
    `${events} events: ${broken.length === 0 ? 'no promise was broken' : `${broken.length} have broken a promise`}.\n`,
);
const rarest = [...reached].toSorted(([, one], [, other]) => one - other);
process.stdout.write(`The rarest of ${rarest.length} states, and how many runs reached them:\n`);
for (const [state, times] of rarest.slice(0, 8))
  process.stdout.write(`${String(times).padStart(7)}  ${state}\n`);
const isBlind = runs >= enoughRuns && rarest[0]?.[1] === 0;
if (broken.length > 0 || isBlind) process.exitCode = 1;

async function build() {
  const bundle = await rolldown({
    input: new URL('thread.ts', import.meta.url).pathname,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  });
  await bundle.write({ file: built.pathname, format: 'esm', codeSplitting: false });
  await bundle.close();
}

function tell(/** @type {import('./thread.ts').Told} */ told) {
  events += told.events;
  simulatedMs += told.simulatedMs;
  for (const [state, times] of Object.entries(told.reached))
    reached.set(state, (reached.get(state) ?? 0) + times);
  for (const { seed, violations, lines } of told.shown) {
    if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
    if (violations.length === 0) continue;
    broken.push(seed);
    process.stdout.write(
      `seed ${seed}: ${violations.join('; ')}\n  to play it again: npm run simulate -- --seed ${seed} --runs 1 --show\n`,
    );
  }
}
