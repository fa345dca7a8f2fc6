import type { Code } from '../service/codes.ts';

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
  /** The service answers with an error, in its error style. `retryAfter` is in seconds. */
  | { readonly kind: 'error'; readonly code: Code; readonly message: string; readonly retryAfter?: number }
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

/** Every fault, in the order in which a request's lot is compared with their shares. */
export const faultKinds: readonly FaultKind[] = [
  {
    name: 'reset',
    processed: false,
    effect: { kind: 'reset' },
    summary: 'connection reset, request not processed',
  },
  {
    name: 'timeout',
    processed: false,
    effect: { kind: 'silence' },
    summary: 'no answer, request not processed',
  },
  {
    name: '500',
    processed: false,
    effect: { kind: 'error', code: 'INTERNAL', message: 'internal error' },
    summary: 'answered 500, request not processed',
  },
  {
    name: '503',
    processed: false,
    effect: { kind: 'error', code: 'UNAVAILABLE', message: 'the service is unavailable' },
    summary: 'answered 503, request not processed',
  },
  {
    name: '503-retry-after',
    processed: false,
    effect: { kind: 'error', code: 'UNAVAILABLE', message: 'the service is being restarted', retryAfter: 1 },
    summary: 'answered 503 with a waiting time of 1 s, request not processed',
  },
  {
    name: 'reset-after-commit',
    processed: true,
    effect: { kind: 'reset' },
    summary: 'request processed, then connection reset',
  },
  {
    name: 'timeout-after-commit',
    processed: true,
    effect: { kind: 'silence' },
    summary: 'request processed, no answer',
  },
  {
    name: '500-after-commit',
    processed: true,
    effect: { kind: 'error', code: 'INTERNAL', message: 'internal error' },
    summary: 'request processed, then answered 500',
  },
  {
    name: '502-after-commit',
    processed: true,
    effect: { kind: 'gateway', status: 502 },
    summary: "request processed, then answered 502 with a proxy's HTML page",
  },
  {
    name: '504-after-commit',
    processed: true,
    effect: { kind: 'gateway', status: 504 },
    summary: "request processed, then answered 504 with a proxy's HTML page",
  },
  {
    name: 'malformed',
    processed: true,
    effect: { kind: 'malformed' },
    summary: 'request processed, answer is broken JSON',
  },
  {
    name: 'wrong-id',
    processed: true,
    effect: { kind: 'wrong-id' },
    summary: 'request processed, answer names another identifier',
  },
  {
    name: 'slow-body',
    processed: true,
    effect: { kind: 'slow-body' },
    summary: "request processed, second half of the answer's body after --slow-body-delay",
  },
  {
    name: 'cut-body',
    processed: true,
    effect: { kind: 'cut-body' },
    summary: 'request processed, connection reset in the middle of the answer',
  },
];
