import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bullmqPriority, FairTurns, newBatchId, turnOf } from '../../src/queue/fair-turns.ts';

test.each([
  ['r', 0],
  ['nightly.2026-11-25', 1_234],
  ['r.7', undefined],
])('the id of a batch of run %s carries turn %s', (run, turn) => {
  const id = newBatchId(run, turn);
  expect(id.startsWith(`${run}-b-`)).toBe(true);
  expect(turnOf(id)).toBe(turn ?? 0);
});

test('turns become priorities that BullMQ takes, in order', () => {
  const turns = [0, 7, 8, 1_000, 16_777_200, 1e9];
  expect(turns.map(bullmqPriority)).toEqual([1, 1, 2, 126, 2_097_151, 2_097_151]);
});

test.each([
  { case: 'a run alone counts its rows', before: [], served: 0, open: 0, turn: 0 },
  { case: 'it continues from there', before: [100, 50], served: 100, open: 150, turn: 150 },
  { case: 'a run that was idle starts from what is served', before: [100], served: 900, open: 0, turn: 900 },
  {
    case: 'when others have lost their turns, it is at most its open rows and a batch ahead',
    before: [5_000],
    served: 0,
    open: 40,
    turn: 290,
  },
  { case: 'without an answer, it continues', before: [100], served: undefined, open: 0, turn: 100 },
])('$case', ({ before, served, open, turn }) => {
  const turns = new FairTurns();
  for (const rows of before) turns.take(rows, undefined, 0);
  expect(turns.take(10, served, open)).toBe(turn);
});

/** A run keeps this many rows in the queue, in batches of this size. */
interface Feeder {
  readonly batch: number;
  readonly window: number;
  /** Batches that are served before it begins. */
  readonly beginsAt: number;
}

/** Serves batches in the order of their turns, and counts the rows of each run from when all have started. */
function servedRows(feeders: readonly Feeder[], batches: number): readonly number[] {
  const runs = feeders.map((feeder) => ({ ...feeder, turns: new FairTurns(), open: 0, rows: 0 }));
  const queue: { run: (typeof runs)[number]; turn: number; rows: number }[] = [];
  const begun = Math.max(...feeders.map(({ beginsAt }) => beginsAt));
  let served = 0;
  for (let count = 0; count < batches; count += 1) {
    for (const run of runs) {
      while (count >= run.beginsAt && run.open + run.batch <= run.window) {
        queue.push({
          run,
          turn: run.turns.take(run.batch, queue[0]?.turn ?? served, run.open),
          rows: run.batch,
        });
        queue.sort((a, b) => a.turn - b.turn);
        run.open += run.batch;
      }
    }
    const next = queue.shift();
    if (next === undefined) continue;
    served = next.turn;
    next.run.open -= next.rows;
    if (count >= begun) next.run.rows += next.rows;
  }
  return runs.map(({ rows }) => rows);
}

test('runs get the same number of rows, whatever their batches and whenever they began', () => {
  const feeder = fc
    .record({
      batch: fc.integer({ min: 1, max: 250 }),
      held: fc.integer({ min: 2, max: 20 }),
      beginsAt: fc.integer({ min: 0, max: 300 }),
    })
    .map(({ batch, held, beginsAt }): Feeder => ({ batch, window: batch * held, beginsAt }));
  fc.assert(
    fc.property(fc.array(feeder, { minLength: 2, maxLength: 5 }), (feeders) => {
      const rows = servedRows(feeders, 2_000);
      // The bound of the paper for two runs: a batch of each.
      const most = 2 * Math.max(...feeders.map(({ batch }) => batch));
      expect(Math.max(...rows) - Math.min(...rows)).toBeLessThanOrEqual(most);
    }),
  );
});
