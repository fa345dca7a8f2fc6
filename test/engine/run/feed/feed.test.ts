import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowTask } from '../../../../src/engine/queue/payload.ts';
import { decodeCallable } from '../../../../src/engine/rows/row-line.ts';
import { Feed } from '../../../../src/engine/run/feed/feed.ts';
import { RowOrder } from '../../../../src/engine/run/feed/row-order.ts';
import { taskOf } from '../../queue/tasks.ts';

const subjectOf = ({ line, operation }: RowTask): string => decodeCallable(line, operation).subject;

const none: ReadonlySet<number> = new Set();

/** The items as they are read, two at a time. */
async function* inParts<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let at = 0; at < items.length; at += 2) yield items.slice(at, at + 2);
}

async function takeAll(feed: Feed): Promise<number[]> {
  const rows: number[] = [];
  for (let task = await feed.next(); task !== undefined; task = await feed.next()) rows.push(task.row);
  return rows;
}

/** A feed of rows with these subjects. */
function feedOf(subjects: string, order?: RowOrder): Feed {
  const tasks = inParts([...subjects].map((subject, at) => taskOf(at + 1, { subject })));
  return new Feed({ tasks, rowsInDatastore: none, isFinished: () => false, order });
}

describe('rows of one subject', () => {
  test('are fed one after the other where it does, each when the previous one has its result', async () => {
    const order = new RowOrder();
    const feed = feedOf('aabba', order);
    expect(await takeAll(feed)).toEqual([1, 3]);
    expect([1, 2, 3].map((row) => order.isAwaited(row))).toEqual([true, false, true]);
    expect(order.noteFinishedRow(3)).toBe(true);
    expect(await takeAll(feed)).toEqual([4]);
    expect(order.noteFinishedRow(1)).toBe(true);
    expect(await takeAll(feed)).toEqual([2]);
    expect(feed.isDone).toBe(false);
    order.noteFinishedRow(2);
    expect(await takeAll(feed)).toEqual([5]);
    expect(feed.isDone).toBe(true);
  });

  test('wait for all rows that an earlier coordinator has left open', async () => {
    const order = new RowOrder();
    const tasks = inParts([1, 2, 3].map((row) => taskOf(row, { subject: 'a' })));
    const feed = new Feed({ tasks, rowsInDatastore: new Set([1, 2]), isFinished: () => false, order });
    expect(await takeAll(feed)).toEqual([]);
    expect([order.noteFinishedRow(2), order.noteFinishedRow(1)]).toEqual([false, true]);
    expect(await takeAll(feed)).toEqual([3]);
  });
});

/** The life of a coordinator, one number for each step: which open row it is about, and what happens to it. */
const life = fc.array(fc.nat(1_000), { maxLength: 60 });

test('in any order of results, returns and restarts: one row of a subject at a time, in order', async () => {
  const subjects = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(
      subjects,
      fc.array(life, { maxLength: 4 }),
      fc.integer({ min: 1, max: 8 }),
      async (given, lives, maxHeld) => {
        const all = given.map((subject, at) => taskOf(at + 1, { subject }));
        const finished = new Set<number>();
        /** Rows in the datastore: they outlive a coordinator. */
        const open = new Map<number, RowTask>();

        async function coordinate(steps: readonly number[], isLast: boolean): Promise<void> {
          const order = new RowOrder(maxHeld);
          const skip = new Set(open.keys());
          let read = 0;
          function* unfinished(part: readonly RowTask[]) {
            for (const task of part) {
              if (finished.has(task.row)) continue;
              read += skip.has(task.row) ? 0 : 1;
              yield task;
            }
          }
          async function* tasks() {
            for await (const part of inParts(all)) yield unfinished(part);
          }
          const isFinished = (row: number) => finished.has(row);
          const feed = new Feed({ tasks: tasks(), rowsInDatastore: skip, isFinished, order, now: () => 0 });
          /** Rows that this coordinator fed first; rows in the datastore were fed earlier. */
          const fed = new Set<number>();
          const take = async () => {
            const task = await feed.next();
            if (task === undefined) return;
            const subject = subjectOf(task);
            for (const other of open.values()) expect(subjectOf(other)).not.toBe(subject);
            const earlier = all.filter((each) => subjectOf(each) === subject && each.row < task.row);
            expect(earlier.filter(({ row }) => !finished.has(row))).toEqual([]);
            if (!skip.has(task.row)) fed.add(task.row);
            open.set(task.row, task);
          };
          const end = (step: number) => {
            const task = [...open.values()][step % Math.max(open.size, 1)];
            if (task === undefined) return;
            open.delete(task.row);
            if (step % 5 === 0) return feed.feedAgain(task, 0);
            finished.add(task.row);
            order.noteFinishedRow(task.row);
          };
          for (const step of steps) {
            // A result may arrive while the feed reads.
            if (step % 3 === 0) await take();
            else if (step % 3 === 1) end(step);
            else await Promise.all([take(), Promise.resolve().then(() => end(step))]);
            expect(read - fed.size).toBeLessThanOrEqual(maxHeld + 1);
          }
          for (let turn = 1; isLast && finished.size < all.length; turn += 1) {
            expect(turn).toBeLessThan(1_000);
            await Promise.all([take(), Promise.resolve().then(() => end(5 * turn + 1))]);
          }
          await feed.close();
        }

        for (const steps of lives) {
          await coordinate(steps, false);
          // Rows that were handed back and not fed again are only in the manifest.
        }
        await coordinate([], true);
        expect(finished.size).toBe(all.length);
      },
    ),
    { numRuns: 200 },
  );
});
