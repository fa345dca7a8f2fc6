import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../cluster/cluster.ts';
import type { DatedWish, Wish } from '../cluster/entries.ts';
import { writeFileAtomically } from '../files.ts';

/**
 * How one process asks another to pause, go on with or cancel a run: with a file in the run's folder, which needs no
 * datastore and no connection between the two, or in the cluster of a shared datastore, which needs no folder.
 */

const fileName = 'wish.json';
const pollMs = 500;
const wishes: readonly string[] = ['go', 'pause', 'cancel'] satisfies Wish[];

export async function writeWish(runFolder: string, wish: Wish): Promise<void> {
  const dated: DatedWish = { wish, at: new Date().toISOString() };
  await writeFileAtomically(join(runFolder, fileName), `${JSON.stringify(dated)}\n`);
}

export async function clearWish(runFolder: string): Promise<void> {
  await rm(join(runFolder, fileName), { force: true });
}

async function readWish(runFolder: string): Promise<DatedWish | undefined> {
  try {
    const { wish, at } = JSON.parse(await readFile(join(runFolder, fileName), 'utf8')) as Partial<DatedWish>;
    return wishes.includes(wish ?? '') && at !== undefined ? { wish: wish as Wish, at } : undefined;
  } catch {
    // Not there, or half of a file by somebody's hand: nothing that could be understood is wanted.
    return undefined;
  }
}

/** What is wanted of a run at the moment: the latest wish counts, wherever it was made. */
export interface WishWatch {
  readonly current: Wish;
  /** Resolves as soon as something of this is wanted; never when the watch is closed before. */
  until(...wanted: readonly Wish[]): Promise<Wish>;
  close(): void;
}

/** @param cluster of a shared datastore; without it only the run's folder is looked at. */
export function watchWishes(runId: string, runFolder: string, cluster?: Cluster): WishWatch {
  let current: Wish = 'go';
  let asking = false;
  const waiting = new Set<{ readonly wanted: readonly Wish[]; resolve(wish: Wish): void }>();

  /** From the folder, and from the cluster; undefined: not asked yet. */
  const heard: { folder?: Heard; cluster?: Heard } = {};
  let latest: DatedWish | undefined;

  const hear = (source: keyof typeof heard, wish: DatedWish | undefined): void => {
    const before = heard[source];
    heard[source] = { wish };
    if (isDeepStrictEqual(before?.wish, wish)) return;
    const others = source === 'folder' ? heard.cluster : heard.folder;
    // What was made while it is watched is the latest, whatever the clocks of who made it said.
    latest = before === undefined || wish === undefined ? laterOf(wish, others?.wish) : wish;
    current = latest?.wish ?? 'go';
    for (const waiter of waiting) {
      if (!waiter.wanted.includes(current)) continue;
      waiting.delete(waiter);
      waiter.resolve(current);
    }
  };
  const look = async (): Promise<void> => {
    // While the datastore does not answer, the folder still does.
    hear('folder', await readWish(runFolder));
    if (cluster === undefined || asking) return;
    asking = true;
    try {
      hear('cluster', await cluster.wishOf(runId));
    } catch {
      // It is asked again.
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(() => void look(), pollMs);
  timer.unref();
  void look();
  return {
    get current() {
      return current;
    },
    until(...wanted) {
      if (wanted.includes(current)) return Promise.resolve(current);
      return new Promise((resolve) => {
        waiting.add({ wanted, resolve });
      });
    },
    close: () => clearInterval(timer),
  };
}

interface Heard {
  readonly wish: DatedWish | undefined;
}

function laterOf(one: DatedWish | undefined, other: DatedWish | undefined): DatedWish | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.at < other.at ? other : one;
}
