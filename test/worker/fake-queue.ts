import { steadyNow } from '../../src/clock.ts';
import type { CallRate } from '../../src/queue/call-rate.ts';
import type { RowQueue } from '../../src/queue/row-queue.ts';

/** A queue that keeps the rates that are set the pauses that are made, and when, and rests as a test wants. */
export function fakeQueue() {
  const rates: { readonly rate: CallRate | undefined; readonly at: number }[] = [];
  const pauses: number[] = [];
  const rest = { ms: 0, ended: 0 };
  const known: Partial<RowQueue> = {
    restingFor: async () => rest.ms,
    async endRest() {
      rest.ended += 1;
      rest.ms = 0;
    },
    async setRate(rate) {
      rates.push({ rate, at: steadyNow() });
    },
    async pauseFor(milliseconds) {
      pauses.push(milliseconds);
    },
  };
  return { queue: known as RowQueue, rates, pauses, rest };
}
