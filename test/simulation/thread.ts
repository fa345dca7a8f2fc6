import { parentPort } from 'node:worker_threads';
import { type Played, play } from './play.ts';
import { sometimes } from './sometimes.ts';

/** Seeds that a thread must play, one after the other. */
export interface Order {
  readonly first: number;
  readonly count: number;
  readonly keepLines: boolean;
}

/** Their results. */
export interface Told {
  readonly events: number;
  readonly simulatedMs: number;
  /** How many of them have reached each of the rare states. */
  readonly reached: Readonly<Record<string, number>>;
  /** Seeds that broke a promise, and all whose lines were wanted. */
  readonly shown: readonly Pick<Played, 'seed' | 'violations' | 'lines'>[];
}

const port = parentPort;
port?.on('message', async ({ first, count, keepLines }: Order) => {
  const shown: Told['shown'][number][] = [];
  let events = 0;
  let simulatedMs = 0;
  const reached = Object.fromEntries(sometimes.map((state) => [state, 0]));
  for (let seed = first; seed < first + count; seed += 1) {
    const { violations, lines, ...played } = await play(seed, { keepLines });
    events += played.events;
    simulatedMs += played.simulatedMs;
    for (const state of played.reached) reached[state] = (reached[state] ?? 0) + 1;
    if (keepLines || violations.length > 0) shown.push({ seed, violations, lines });
  }
  port.postMessage({ events, simulatedMs, reached, shown } satisfies Told);
});
