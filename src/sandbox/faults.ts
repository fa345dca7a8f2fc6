import { invalidOption, type Millionths, parseAssignments, parseShare, whole } from './options/notation.ts';
import { randomFor } from './random.ts';
import { type Refusal, refuse } from './service/refusal.ts';

/** A way in which a request can go wrong though the client did everything right. */
export type FaultKind = {
  readonly name: string;
  /** For `--help` and the documentation. */
  readonly summary: string;
} & (
  | { readonly processed: false; readonly effect: Loss }
  /** The request is processed: the change is made, unless the service refuses it. */
  | { readonly processed: true; readonly effect: Loss | Damage }
);

/** The operation's answer, if there is one, does not get through. */
export type Loss =
  /** The connection is reset, without an answer. */
  | { readonly kind: 'reset' }
  /** No answer comes; the connection stays open until the client gives up. */
  | { readonly kind: 'silence' }
  /** The service answers with an error, in its error style. */
  | { readonly kind: 'error'; readonly refusal: Refusal }
  /** A proxy before the service answers, with a page in HTML. */
  | { readonly kind: 'gateway'; readonly status: number };

/** Something is wrong with the operation's answer. */
export type Damage =
  /** The JSON of a 200 is cut off. */
  | { readonly kind: 'malformed' }
  /** A 200 names another identifier. */
  | { readonly kind: 'wrong-id' }
  /** The second half of the answer's body comes late. */
  | { readonly kind: 'slow-body' }
  /** The connection is reset in the middle of the answer's body. */
  | { readonly kind: 'cut-body' };

const internalError: Loss = { kind: 'error', refusal: refuse('INTERNAL', 'internal error') };
const unavailable: Loss = { kind: 'error', refusal: refuse('UNAVAILABLE', 'the service is unavailable') };
const restarted: Loss = {
  kind: 'error',
  refusal: refuse('UNAVAILABLE', 'the service is being restarted', { retryAfter: 1 }),
};

/** Every fault, in the order in which a request's lot is compared with their shares. */
export const faultKinds: readonly FaultKind[] = [
  notProcessed('reset', { kind: 'reset' }, 'connection reset'),
  notProcessed('timeout', { kind: 'silence' }, 'no answer'),
  notProcessed('500', internalError, 'answered 500'),
  notProcessed('503', unavailable, 'answered 503'),
  notProcessed('503-retry-after', restarted, 'answered 503 with a waiting time of 1 s'),
  processed('reset-after-commit', { kind: 'reset' }, 'then connection reset'),
  processed('timeout-after-commit', { kind: 'silence' }, 'no answer'),
  processed('500-after-commit', internalError, 'then answered 500'),
  processed(
    '502-after-commit',
    { kind: 'gateway', status: 502 },
    "then answered 502 with a proxy's HTML page",
  ),
  processed(
    '504-after-commit',
    { kind: 'gateway', status: 504 },
    "then answered 504 with a proxy's HTML page",
  ),
  processed('malformed', { kind: 'malformed' }, 'answer is broken JSON'),
  processed('wrong-id', { kind: 'wrong-id' }, 'answer names another identifier'),
  processed('slow-body', { kind: 'slow-body' }, "second half of the answer's body after --slow-body-delay"),
  processed('cut-body', { kind: 'cut-body' }, 'connection reset in the middle of the answer'),
];

function notProcessed(name: string, effect: Loss, summary: string): FaultKind {
  return { name, processed: false, effect, summary: `${summary}, request not processed` };
}

function processed(name: string, effect: Loss | Damage, summary: string): FaultKind {
  return { name, processed: true, effect, summary: `request processed, ${summary}` };
}

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
