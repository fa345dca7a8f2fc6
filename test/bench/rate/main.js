// @ts-check
/**
 * How the governor copes with a limit, in simulated time: `npm run bench:rate -- LIMIT`. See docs/rate-inside.md.
 *
 * The exit code says whether the simulation worked, not whether the figures are good.
 */
import { parseArgs } from 'node:util';
import { aligned } from '../measure/table.js';
import { conditions } from './conditions.js';
import { figuresOf } from './figures.js';
import { ideal, simulate } from './simulation.js';
import { share, timeline } from './table.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '310' },
    from: { type: 'string', default: '10' },
    workers: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '5' },
    verbose: { type: 'boolean', default: false },
  },
});
const [limit] = positionals;
if (limit === undefined) {
  process.stderr.write(
    'Usage: npm run bench:rate -- LIMIT [--seconds N] [--from SECOND] [--workers N] [--seeds N] [--verbose]\n',
  );
  process.exit(2);
}
const { seeds, verbose } = values;
const world = { limit, seconds: Number(values.seconds), workers: Number(values.workers) };
const permitted = ideal(world);
const rows = conditions.map(([told, condition]) => {
  const runs = Array.from({ length: Number(seeds) }, (_, index) => {
    const played = simulate({ ...world, ...condition, seed: index + 1 });
    if (verbose) process.stdout.write(`${told}, seed ${index + 1}\n${timeline(played)}\n`);
    return figuresOf(
      { title: limit, world, judged: [Number(values.from), world.seconds] },
      played,
      permitted,
    );
  });
  return [
    told,
    share(runs.map(({ used }) => used)),
    share(
      runs.map(({ rejected }) => rejected),
      2,
    ),
    share(runs.map(({ worstMinute }) => worstMinute)),
  ];
});
process.stdout.write(aligned([['answers tell', 'used', 'rejected', 'worst minute'], ...rows]));
