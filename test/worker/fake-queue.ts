import { steadyNow } from '../../src/clock.ts';
import type { CallRate } from '../../src/queue/call-rate.ts';
import type { RowQueue } from '../../src/queue/row-queue.ts';

/** A queue that keeps the rates that are set and the pauses that are made, and when. */
export function fakeQueue() {
  const rates: { readonly rate: CallRate | undefined; readonly at: number }[] = [];
  const pauses: number[] = [];
  const known: Partial<RowQueue> = {
    async setRate(rate) {
      rates.push({ rate, at: steadyNow() });
    },
    async pauseFor(milliseconds) {
      pauses.push(milliseconds);
    },
  };
  return { queue: known as RowQueue, rates, pauses };
}
