import type { World } from '../../bench/rate/world.ts';
import { played } from './governor/simulated.ts';

/** When the calls of a world left, in milliseconds from its start, and by which worker. */
export function callsOf(
  world: Omit<World, 'limit' | 'onCall'>,
): { readonly at: number; readonly worker: number }[] {
  const calls: { at: number; worker: number }[] = [];
  played({ limit: 'none', ...world, onCall: (at, worker) => calls.push({ at, worker }) });
  return calls;
}

type Calls = ReturnType<typeof callsOf>;

/** The most calls in any window of this many milliseconds. */
export function mostWithin(calls: Calls, milliseconds: number): number {
  let from = 0;
  return calls.reduce((most, { at }, index) => {
    while ((calls[from]?.at ?? at) <= at - milliseconds) from += 1;
    return Math.max(most, index - from + 1);
  }, 0);
}

/** Calls per second from one second to another. */
export function perSecond(calls: Calls, from: number, to: number): number {
  return calls.filter(({ at }) => at >= from * 1_000 && at < to * 1_000).length / (to - from);
}
