import { invalidOption, type Millionths, parseAssignments, parseShare, whole } from '../options/notation.ts';
import { randomFor } from '../random.ts';
import { type FaultKind, faultKinds } from './fault-kinds.ts';

/** The faults that happen, each with its share of the requests; together at most the whole. */
export type FaultShares = ReadonlyMap<FaultKind, Millionths>;

/**
 * Reads `reset=1%,timeout=0.5%` or `none`.
 *
 * @throws CqbatchError `INVALID_OPTION` for unknown faults, bad shares, and shares of more than 100 % together.
 */
export function parseFaults(option: string, text: string): FaultShares {
  if (text.trim() === 'none') return new Map();
  const assigned = parseAssignments(option, text);
  const names = faultKinds.map(({ name }) => name);
  for (const name of assigned.keys()) {
    if (names.includes(name)) continue;
    throw invalidOption(option, `there is no fault ${name}; known faults: ${names.join(', ')}`);
  }
  const shares = faultKinds
    .map((kind) => [kind, parseShare(option, assigned.get(kind.name) ?? '0%')] as const)
    .filter(([, share]) => share > 0);
  if (shares.reduce((sum, [, share]) => sum + share, 0) > whole) {
    throw invalidOption(option, 'the faults are more than 100% together');
  }
  return new Map(shares);
}

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
