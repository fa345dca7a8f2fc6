import type { Damage, Loss } from '../faults.ts';
import { type Integer, maxIdentifier } from '../model/entities.ts';
import type { Answer, Endpoint } from './operations.ts';
import {
  type ErrorBody,
  type ErrorStyle,
  errorBody,
  htmlPage,
  type Refusal,
  type RetryAfterStyle,
} from './refusal.ts';
import { type WireStyle, writeBody } from './wire.ts';

/** An answer as it goes over the wire. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How the body is compressed on its way. */
  readonly compression: Compression;
}

/** How answers are compressed: a `Content-Encoding`, or not at all. */
export const compressions = ['none', 'gzip', 'br', 'deflate'] as const;
export type Compression = (typeof compressions)[number];

/** What happens on the connection. */
export type Delivery =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  /** The second half of the body comes after `pause` milliseconds. */
  | { readonly kind: 'slow'; readonly answer: HttpAnswer; readonly pause: number }
  /** The connection is reset after half of the body. */
  | { readonly kind: 'cut'; readonly answer: HttpAnswer }
  /** The connection is reset. */
  | { readonly kind: 'reset' }
  /** Nothing, until the client gives up. */
  | { readonly kind: 'silence' };

export interface DeliveryStyle extends WireStyle {
  readonly errorStyle: ErrorStyle;
  readonly retryAfter: RetryAfterStyle;
  readonly compress: Compression;
  /** Milliseconds. */
  readonly slowBodyDelay: number;
}

/** Writes an answer in a style. */
export function writeAnswer(answer: Answer, style: DeliveryStyle): HttpAnswer {
  return answer.kind === 'refused'
    ? writeRefusal(answer.refusal, style)
    : { status: 200, headers: jsonHeaders, body: writeBody(answer.body, style), compression: style.compress };
}

/** Writes a refusal in a style. */
export function writeRefusal(refusal: Refusal, style: DeliveryStyle): HttpAnswer {
  const wait =
    style.retryAfter === 'header' && refusal.retryAfter !== undefined
      ? { 'retry-after': String(Math.max(1, Math.ceil(refusal.retryAfter - rounding))) }
      : {};
  const body = errorBody(refusal, style.errorStyle, style.retryAfter);
  return withBody(refusal.status, body, style, { ...refusal.headers, ...wait });
}

/** What happens when the operation's answer, if there is one, does not get through. */
export function deliverLoss(loss: Loss, style: DeliveryStyle): Delivery {
  switch (loss.kind) {
    case 'reset':
    case 'silence':
      return loss;
    case 'error':
      return { kind: 'answer', answer: writeRefusal(loss.refusal, style) };
    case 'gateway':
      return { kind: 'answer', answer: withBody(loss.status, htmlPage(loss.status), style) };
  }
}

/** A delivery with more headers, where it has any. */
export function withHeaders(delivery: Delivery, headers: HttpAnswer['headers']): Delivery {
  if (!('answer' in delivery)) return delivery;
  const { answer } = delivery;
  return { ...delivery, answer: { ...answer, headers: { ...answer.headers, ...headers } } };
}

/** What a fault makes of the operation's answer; `undefined` when a refusal gives it no occasion. */
export function deliverSpoilt(
  effect: Loss | Damage,
  answer: Answer,
  { endpoint, id }: { readonly endpoint: Endpoint; readonly id: Integer },
  style: DeliveryStyle,
): Delivery | undefined {
  switch (effect.kind) {
    case 'malformed': {
      if (answer.kind === 'refused') return undefined;
      const { body, ...rest } = writeAnswer(answer, style);
      return { kind: 'answer', answer: { ...rest, body: body.slice(0, Math.floor(body.length / 2)) } };
    }
    case 'wrong-id': {
      if (answer.kind === 'refused') return undefined;
      const body = endpoint.withIdentifier(answer.body, otherThan(id));
      return { kind: 'answer', answer: writeAnswer({ ...answer, body }, style) };
    }
    case 'slow-body':
      return { kind: 'slow', answer: writeAnswer(answer, style), pause: style.slowBodyDelay };
    case 'cut-body':
      return { kind: 'cut', answer: writeAnswer(answer, style) };
    default:
      return deliverLoss(effect, style);
  }
}

/** What floating point may add to a number of seconds, which must not make it a second more. */
const rounding = 1e-6;

const jsonHeaders = { 'content-type': 'application/json' };

function withBody(
  status: number,
  { contentType, text }: ErrorBody,
  { compress }: DeliveryStyle,
  headers = {},
): HttpAnswer {
  return { status, headers: { 'content-type': contentType, ...headers }, body: text, compression: compress };
}

function otherThan(id: Integer): Integer {
  const exact = BigInt(id);
  const other = exact === maxIdentifier ? exact - 1n : exact + 1n;
  return other <= Number.MAX_SAFE_INTEGER ? Number(other) : other;
}
