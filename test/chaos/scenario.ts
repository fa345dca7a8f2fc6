import { type Random, randomFor } from '../../src/sandbox/random.ts';

/** A disturbance of a round, and how long it comes after the previous one. */
export interface Trouble {
  readonly afterMs: number;
  readonly what: What;
  /** How long the disturbance lasts. */
  readonly forMs: number;
  /** Which of several processes, when there are several. */
  readonly which: number;
}

type What = keyof typeof troubles | keyof typeof redisTroubles;

/** What may happen on any datastore, with the weight of each. */
const troubles = {
  'kill coordinator': 5,
  'cut journal': 2,
  'freeze coordinator': 3,
  'interrupt coordinator': 3,
  'interrupt coordinator twice': 1,
  'move run folder': 2,
  'move state folder': 1,
  'fill disk': 1,
  'set clock': 2,
  'pause and unpause': 2,
  'set-rate': 1,
  'set-priority': 1,
  look: 2,
  'start another': 1,
  cancel: 0.3,
};

const redisTroubles = {
  'kill worker': 4,
  'freeze worker': 3,
  'interrupt worker twice': 1,
  'kill Redis': 3,
  'empty Redis': 3,
  'put Redis back older': 2,
  'cut Redis': 2,
  'cut connections': 2,
};

/** A round: what is run, where, and what happens to it. */
export type Scenario = ReturnType<typeof scenarioOf>;

const faults = [
  'reset=1%,500=1%,503=1%',
  'reset-after-commit=1%,502-after-commit=1%,malformed=1%',
  'timeout=0.5%,timeout-after-commit=0.5%',
];

/** The round of that number; the same seed and number always give the same round. */
export function scenarioOf(seed: number, round: number) {
  const random = randomFor('chaos', seed, round);
  const redis = random.chance(0.65);
  const workers = redis ? random.integer(1, 3) : 0;
  const inOrder = random.chance(0.25);
  const latencyMs = random.integer(10, 120);
  const submitted = random.chance(0.5);
  const canary = !inOrder && random.chance(0.25) ? random.integer(1, 25) : 0;
  const maxFailures = !inOrder && random.chance(0.3) ? random.integer(5, 40) : undefined;
  const kinds = redis ? { ...troubles, ...redisTroubles } : troubles;
  return {
    redis,
    /** Processes that only call the API; on Redis only. */
    workers,
    /** Whether a daemon coordinates, instead of the command `run`. */
    submitted,
    /** Whether the coordinating process calls the API as well. */
    calls: !redis || random.chance(0.5),
    rows: random.integer(150, 700),
    /** Edits of the same entries, in the order of the manifest. */
    inOrder,
    /** Rows that are called before all others; 0 means none. */
    canary,
    /** More failures halt the run, and the user resumes it; undefined: any number may fail. */
    maxFailures,
    /** Whether the failed rows are retried in the end. */
    retried: !inOrder && random.chance(0.3),
    rate: pick(random, { none: 2, '80/s': 3, '40/s': 1, auto: 1 }),
    priority: pick(random, { normal: 2, high: 1, low: 1 }),
    concurrency: random.integer(2, 15),
    saveResponses: random.chance(0.3),
    /** Flags of the sandbox. */
    api: [
      ...['--latency', `${latencyMs}ms..${latencyMs * 2}ms`],
      ...(random.chance(0.4) ? ['--fault', faults[random.integer(0, faults.length - 1)] ?? ''] : []),
      ...(random.chance(0.25) ? ['--limit', 'token-bucket:rate=60,burst=20'] : []),
      ...(maxFailures === undefined ? [] : ['--unrecoverable', `${random.integer(5, 25)}%`]),
    ],
    troubles: Array.from({ length: random.integer(1, 7) }, (): Trouble => {
      const isLong = random.chance(0.12);
      return {
        afterMs: random.integer(100, 2_500),
        what: pick(random, kinds),
        // Locks are held for 20 s.
        forMs: isLong ? random.integer(21_000, 32_000) : random.integer(100, 3_000),
        which: random.integer(0, 1_000),
      };
    }),
  };
}

function pick<Name extends string>(random: Random, weights: Readonly<Partial<Record<Name, number>>>): Name {
  const entries = Object.entries(weights) as [Name, number][];
  let left = random.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  throw new Error('no weights');
}

/** A round, described in one line. */
export function inWords(scenario: Scenario): string {
  const { redis, workers, submitted, calls, rows, inOrder, canary, rate, concurrency, api } = scenario;
  const { maxFailures, retried } = scenario;
  const coordinator = `${submitted ? 'daemon' : 'run'}${calls ? '' : ' that calls nothing'}`;
  return [
    `${redis ? `Redis, ${workers} workers` : 'embedded'}, ${coordinator}`,
    [
      `${rows} ${inOrder ? 'edits in order' : 'rows'}`,
      ...(canary > 0 ? [`${canary} first`] : []),
      ...(maxFailures === undefined ? [] : [`${maxFailures} may fail`]),
      ...(retried ? ['with a retry'] : []),
      `rate ${rate}`,
      `${concurrency} at once`,
    ].join(', '),
    `API ${api.join(' ')}`,
    scenario.troubles.map(({ what }) => what).join(' · '),
  ].join('; ');
}
