import { type Priority, priorities } from '../../src/domain/terms.ts';
import type { RunOptions } from '../../src/engine/run/record/record.ts';
import { type LosableKey, losableKeys } from './queue-model.ts';
import { Random } from './random.ts';

type Victim = 'coordinator' | 'worker';

/** The power of a coordinator's machine fails, and its disk has not kept that many bytes that it had called synced. */
type PowerFailure = { readonly lostBytes: number };

/** An event that happens to the run: at a time, or before or after a step of a process. */
export type Mishap =
  | { readonly kind: 'kill'; readonly victim: Victim; readonly when: When; readonly power?: PowerFailure }
  | { readonly kind: 'freeze'; readonly victim: Victim; readonly when: When; readonly forMs: number }
  | { readonly kind: 'restart' | 'put back'; readonly atMs: number; readonly awayMs: number }
  | { readonly kind: 'empty' | 'copy' | 'disk full'; readonly atMs: number }
  | { readonly kind: 'stop'; readonly victim: Victim; readonly atMs: number; readonly handOver: boolean }
  | {
      readonly kind: 'lost key';
      readonly key: LosableKey;
      readonly of: 'rows' | 'batches';
      readonly atMs: number;
    }
  | { readonly kind: 'priority'; readonly priority: Priority; readonly atMs: number }
  | { readonly kind: 'command'; readonly command: 'pause' | 'unpause' | 'cancel'; readonly atMs: number };

/**
 * `atWrite`: during the n-th write of the journal, on a disk that is slow from then on. `atRemoval`: when the n-th batch has
 * just been removed from the datastore.
 */
type When =
  | { readonly atMs: number }
  | { readonly atStep: number }
  | { readonly atWrite: number }
  | { readonly atRemoval: number };

/** Everything that a seed decides before the run starts. */
export type Scenario = ReturnType<typeof scenarioOf>;

/** Draws a run and what happens to it. */
export function scenarioOf(seed: number) {
  const random = new Random(seed);
  const often = <Value>(probability: number, value: () => Value, otherwise: Value): Value =>
    random.chance(probability) ? value() : otherwise;
  const rows = random.chance(0.7) ? random.whole(1, 40) : random.whole(41, 150);
  const inOrder = random.chance(0.2);
  const failing = random.chance(0.3);
  const mishaps = Array.from({ length: random.pick([0, 1, 1, 1, 2, 2, 3, 4]) }, () =>
    mishapOf(random),
  ).flat();
  const scenario = {
    seed,
    rows,
    /** Entries on which rows act: as many as rows, or fewer, so that some rows must be called in order. */
    subjects: inOrder ? random.whole(1, Math.max(1, Math.ceil(rows / 2))) : rows,
    workers: random.pick([1, 1, 2, 3]),
    concurrency: random.pick([1, 2, 4, 10]),
    options: {
      attempts: random.whole(1, 4),
      backoffMs: random.pick([10, 500, 20_000]),
      onConflict: inOrder ? 'in-order' : 'refuse',
      ...(random.chance(0.15) && {
        // The program refuses a random canary for rows that must be called in order.
        canary: {
          rows: random.whole(1, 5),
          random: !inOrder && random.chance(0.5),
          maxFailures: random.whole(0, 2),
          ...(random.chance(0.5) && { pause: true }),
        },
      }),
      ...(failing && {
        maxFailures: random.pick([0, 3, 10, { percent: 5 }, { percent: 20 }, 'none'] as const),
      }),
    } satisfies Partial<RunOptions>,
    maxRows: often(0.1, () => random.whole(1, rows), undefined),
    priority: random.pick(priorities),
    /** How the API answers: probabilities; all other calls succeed. */
    api: {
      latencyMs: random.pick([5, 100, 2_000]),
      /** How often a call takes up to 20 s. */
      slow: often(0.3, () => 0.05, 0),
      /** Refused permanently; a refused row always is. */
      refused: failing ? random.between(0.05, 0.5) : often(0.3, () => 0.05, 0),
      /** Fails without an effect, or after it. */
      broken: often(0.4, () => random.between(0.01, 0.3), 0),
      answerLost: often(0.3, () => random.between(0.01, 0.2), 0),
      /** 429 with a waiting time. */
      throttled: often(0.2, () => random.between(0.01, 0.3), 0),
      /** No connection can be made. */
      unreachable: often(0.1, () => random.between(0.01, 0.3), 0),
    },
    network: {
      latencyMs: random.pick([0.5, 3, 30]),
      slow: often(0.2, () => 0.01, 0),
      cut: often(0.3, () => random.pick([0.002, 0.02]), 0),
    },
    disk: { syncMs: random.pick([0.5, 5, 50]), stall: often(0.15, () => 0.05, 0) },
    /** Whether its operation may be carried out twice. */
    repeatable: random.chance(0.75),
    /** How often code throws at an answer: what a user's operation makes of it, or what the worker itself does with it. */
    code: {
      operation: often(0.15, () => random.between(0.02, 0.3), 0),
      worker: often(0.15, () => random.between(0.01, 0.1), 0),
    },
    /** A row that the API refuses with 429 that many times, whatever it says to other rows. */
    limitedRow: often(0.15, () => ({ row: random.whole(1, rows), refusals: random.whole(2, 15) }), undefined),
  };
  // Drawn last, so that all else stays as the seed had it before.
  const powerFailures = often(0.01, () => twoPowerFailures(random), []);
  const lost = often(0.2, () => lostWorkers(random), []);
  const unread = often(
    0.15,
    () => ({ first: random.pick([0, 1, 8, 30]), share: random.pick([0, 0.05, 0.3]) }),
    { first: 0, share: 0 },
  );
  const lostKeys = often(0.15, () => [lostKey(random)], []);
  return {
    ...scenario,
    mishaps: [...mishaps, ...powerFailures, ...lost, ...lostKeys],
    /** Successes that can't be read: that many first ones, and a share of the others. */
    api: { ...scenario.api, unread },
  };
}

function powerFailureOf(random: Random): PowerFailure {
  return { lostBytes: random.chance(0.5) ? 0 : random.whole(1, random.pick([300, 3_000, 30_000])) };
}

/** The second one may take what was restored after the first. */
function twoPowerFailures(random: Random): readonly Mishap[] {
  return [1, 2].map(() => {
    const power = { lostBytes: random.whole(300, 3_000) };
    return { kind: 'kill', victim: 'coordinator', when: { atMs: random.between(100, 40_000) }, power };
  });
}

function lostKey(random: Random): Mishap {
  const of = random.pick(['rows', 'batches'] as const);
  return { kind: 'lost key', key: random.pick(losableKeys), of, atMs: random.between(10, 3_000) };
}

/** One worker after the other dies, or freezes for longer than a lock: batches are claimed again and again. */
function lostWorkers(random: Random): readonly Mishap[] {
  const first = random.between(20, 3_000);
  return [0, 1, 2, 3].map((n) => {
    const victim = 'worker';
    const when = { atMs: first + n * random.between(20_000, 45_000) };
    if (random.chance(0.5)) return { kind: 'kill', victim, when };
    return { kind: 'freeze', victim, when, forMs: random.pick([22_000, 30_000]) };
  });
}

function mishapOf(random: Random): readonly Mishap[] {
  const atMs = random.pick([random.between(0, 500), random.between(0, 5_000), random.between(0, 40_000)]);
  const when: When = random.chance(0.6) ? { atStep: random.whole(1, random.pick([30, 300])) } : { atMs };
  const victim = random.pick(['coordinator', 'worker'] as const);
  switch (
    random.pick([
      'kill',
      'kill',
      'kill',
      'freeze',
      'freeze',
      'datastore',
      'loss',
      'stop',
      'command',
      'disk',
      'priority',
    ])
  ) {
    case 'kill':
      if (random.chance(0.1))
        return [
          { kind: 'command', command: 'pause', atMs },
          { kind: 'kill', victim: 'coordinator', when: { atRemoval: random.whole(1, 3) } },
          { kind: 'command', command: 'unpause', atMs: atMs + random.between(10, 30_000) },
        ];
      return [{ kind: 'kill', victim, when, ...(random.chance(0.2) && { power: powerFailureOf(random) }) }];
    case 'freeze':
      if (random.chance(0.3)) {
        const forMs = random.pick([22_000, 40_000]);
        return [{ kind: 'freeze', victim: 'coordinator', when: { atWrite: random.whole(2, 6) }, forMs }];
      }
      return [{ kind: 'freeze', victim, when, forMs: random.pick([1_000, 10_000, 22_000, 30_000, 55_000]) }];
    case 'datastore':
      return [{ kind: 'restart', atMs, awayMs: random.between(100, 20_000) }];
    case 'loss':
      if (random.chance(0.5)) return [{ kind: 'empty', atMs }];
      return [
        { kind: 'copy', atMs },
        { kind: 'put back', atMs: atMs + random.between(50, 10_000), awayMs: random.between(100, 5_000) },
      ];
    case 'stop':
      return [{ kind: 'stop', victim, atMs, handOver: random.chance(0.5) }];
    case 'priority':
      return [{ kind: 'priority', priority: random.pick(priorities), atMs }];
    case 'command':
      if (random.chance(0.3)) return [{ kind: 'command', command: 'cancel', atMs }];
      return [
        { kind: 'command', command: 'pause', atMs },
        { kind: 'command', command: 'unpause', atMs: atMs + random.between(10, 30_000) },
      ];
    default:
      return [{ kind: 'disk full', atMs }];
  }
}
