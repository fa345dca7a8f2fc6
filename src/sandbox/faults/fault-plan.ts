import { whole } from '../options/share.ts';
import { randomFor } from '../random.ts';
import type { FaultKind } from './fault-kinds.ts';

/** The faults that happen, each with its share of the requests in millionths; together at most the whole. */
export type FaultShares = ReadonlyMap<FaultKind, number>;

/** What decides a request's lot: not the moment of its arrival, so that a run has the same faults in any order. */
export interface RequestKey {
  readonly seed: number;
  readonly operation: string;
  /** Decimal identifier. */
  readonly id: string;
  /** How many requests for this operation and identifier came so far, this one included. */
  readonly nth: number;
}

/** The fault that befalls a request, if any. */
export function drawFault(
  shares: FaultShares,
  { seed, operation, id, nth }: RequestKey,
): FaultKind | undefined {
  if (shares.size === 0) return undefined;
  let lot = randomFor(seed, 'fault', operation, id, nth).fraction() * whole;
  for (const [kind, share] of shares) {
    if (lot < share) return kind;
    lot -= share;
  }
  return undefined;
}
