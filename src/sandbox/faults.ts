import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { gatewayPage, type HttpAnswer, type Refusal, refuse, retryAfter } from './answer.ts';
import { retryInfo } from './error-details.ts';
import { invalidOption, type Millionths, parseAssignments, parseShare, wholeShare } from './notation.ts';

export interface FaultKind {
  readonly name: string;
  /** Whether the service processes the request, and so makes the change. */
  readonly processed: boolean;
  /** What the fault does, for `--help`. */
  readonly summary: string;
  /** Makes the fault's answer from the operation's, if any; undefined when the fault does not apply. */
  readonly spoil?: (answer: HttpAnswer | undefined) => HttpAnswer | Refusal | undefined;
  /** Delivers the answer in another way. Default: sends the answer. */
  readonly send?: Send;
}

export type Send = (response: ServerResponse, answer: HttpAnswer | undefined) => void;

export const sendWhole: Send = (response, answer) => {
  if (answer === undefined) return;
  const { status, headers, body } = answer;
  if (typeof body === 'string') {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  } else {
    // The client may go away at any moment.
    pipeline(Readable.from(body), response.writeHead(status, headers), () => {});
  }
};

const resetConnection: Send = ({ req }) => req.socket.resetAndDestroy();
/** The connection stays open until the client gives up. */
const keepSilent: Send = () => {};

const internalError = refuse('INTERNAL', 'internal error');
const unavailableRefusal = refuse('UNAVAILABLE', 'the service is unavailable');
const restartRefusal = refuse('UNAVAILABLE', 'the service is being restarted', {
  headers: retryAfter(1),
  details: [retryInfo(1)],
});

/** The number drawn for a request is compared with their shares in this order. */
export const faultKinds: readonly FaultKind[] = [
  faultBeforeProcessing('reset', 'connection reset', { send: resetConnection }),
  faultBeforeProcessing('timeout', 'no answer', { send: keepSilent }),
  faultBeforeProcessing('500', 'status 500', { spoil: () => internalError }),
  faultBeforeProcessing('503', 'status 503', { spoil: () => unavailableRefusal }),
  faultBeforeProcessing('503-retry-after', 'status 503 with Retry-After: 1', { spoil: () => restartRefusal }),
  faultAfterProcessing('reset-after-commit', 'then connection reset', { send: resetConnection }),
  faultAfterProcessing('timeout-after-commit', 'then no answer', { send: keepSilent }),
  faultAfterProcessing('500-after-commit', 'then status 500', { spoil: () => internalError }),
  faultAfterProcessing('502-after-commit', "then status 502 with a proxy's page", {
    spoil: () => gatewayPage(502),
  }),
  faultAfterProcessing('504-after-commit', "then status 504 with a proxy's page", {
    spoil: () => gatewayPage(504),
  }),
  faultAfterProcessing('malformed', 'then broken JSON', { spoil: halfOfSuccess }),
];

function faultBeforeProcessing(name: string, summary: string, effect: Partial<FaultKind>): FaultKind {
  return { name, processed: false, summary: `${summary}, request not processed`, ...effect };
}

export function faultAfterProcessing(name: string, summary: string, effect: Partial<FaultKind>): FaultKind {
  return { name, processed: true, summary: `request processed, ${summary}`, ...effect };
}

function halfOfSuccess(answer: HttpAnswer | undefined): HttpAnswer | undefined {
  if (answer?.status !== 200) return undefined;
  const { body } = answer;
  return { ...answer, body: typeof body === 'string' ? firstHalf(body) : halfOfFirstChunk(body) };
}

function firstHalf(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}

function* halfOfFirstChunk(chunks: Iterable<string>): Generator<string> {
  for (const chunk of chunks) {
    yield firstHalf(chunk);
    return;
  }
}

/** The shares of the faults, at most 100 % together. */
export type FaultShares = ReadonlyMap<FaultKind, Millionths>;

/**
 * Reads `reset=1%,timeout=0.5%` or `none`.
 *
 * @throws CqbatchError `INVALID_OPTION` for unknown faults, invalid shares, and shares of more than 100 % together
 */
export function parseFaults(option: string, text: string, kinds = faultKinds): FaultShares {
  if (text.trim() === 'none') return new Map();
  const assigned = parseAssignments(option, text);
  const names = kinds.map(({ name }) => name);
  for (const name of assigned.keys()) {
    if (names.includes(name)) continue;
    throw invalidOption(option, `unknown fault ${name}; known faults: ${names.join(', ')}`);
  }
  const shares = kinds
    .map((kind) => [kind, parseShare(option, assigned.get(kind.name) ?? '0%')] as const)
    .filter(([, share]) => share > 0);
  if (shares.reduce((sum, [, share]) => sum + share, 0) > wholeShare) {
    throw invalidOption(option, 'the faults add up to more than 100%');
  }
  return new Map(shares);
}

/** @param lot at least 0 and less than 1 */
export function drawFault(shares: FaultShares, lot: number): FaultKind | undefined {
  let remaining = lot * wholeShare;
  for (const [kind, share] of shares) {
    if (remaining < share) return kind;
    remaining -= share;
  }
  return undefined;
}
