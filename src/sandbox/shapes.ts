import { stringifyJson } from '../base/text/json.ts';
import {
  codes,
  type Decision,
  type EntryList,
  type HttpAnswer,
  inChunks,
  type Refusal,
  refuse,
  type Success,
} from './answer.ts';
import type { ErrorDetail } from './error-details.ts';
import type { SandboxSettings } from './options.ts';

/** A form of requests and answers. The decisions are the same in each shape. */
export interface Shape {
  /** Which fields a request has. */
  readonly requests: 'document' | 'protobuf';
  /** The answer for a path that the service does not have. */
  readonly wrongPath: (target: string) => Refusal;
  readonly wrongMethod: Refusal;
  /** The refusal of another content type. Absent where the content type does not matter. */
  readonly wrongContentType?: Refusal;
  /** Makes the JSON of a success. */
  readonly success: (done: Success) => unknown;
  /** Makes the JSON of a refusal. */
  readonly refusal: (refusal: Refusal) => unknown;
  /** What the client gets for the headers of the service. */
  readonly headers: (headers: HttpAnswer['headers'], refusal?: Refusal) => HttpAnswer['headers'];
}

const allow = { allow: 'POST' };
const wrongContentType = { status: 415, isBare: true, headers: { 'accept-post': 'application/json' } };

export const shapes: Readonly<Record<SandboxSettings['shape'], Shape>> = {
  document: {
    requests: 'document',
    wrongPath: (target) => refuse('NOT_FOUND', `there is nothing at ${target}`),
    wrongMethod: refuse('UNIMPLEMENTED', 'this path accepts only POST', { status: 405, headers: allow }),
    wrongContentType: refuse('INVALID_ARGUMENT', 'the header Content-Type must be application/json', {
      status: 415,
    }),
    success: ({ result }) => result,
    refusal: ({ code, message }) => ({ code: codes[code].number, message, details: [] }),
    headers: (headers) => headers,
  },
  /** A JSON gateway before a service of Protocol Buffers that writes zero values. */
  gateway: {
    requests: 'protobuf',
    wrongPath: () => refuse('NOT_FOUND', 'Not Found'),
    wrongMethod: refuse('UNIMPLEMENTED', 'Method Not Allowed'),
    success: ({ result, type }) => type.write(result, true),
    refusal: ({ code, message, details = [] }) => ({
      code: codes[code].number,
      message,
      details: details.map(({ type, json }) => ({ '@type': `type.googleapis.com/${type}`, ...json })),
    }),
    headers: (headers, refusal) => ({
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`grpc-metadata-${name}`, value])),
      ...(refusal?.code === 'UNAUTHENTICATED' && { 'www-authenticate': refusal.message }),
    }),
  },
  connect: {
    requests: 'protobuf',
    wrongPath: () => refuse('NOT_FOUND', '', { isBare: true }),
    wrongMethod: refuse('UNIMPLEMENTED', '', { status: 405, isBare: true, headers: allow }),
    wrongContentType: refuse('INVALID_ARGUMENT', '', wrongContentType),
    success: ({ result, type }) => type.write(result, false),
    refusal: ({ code, message, details = [] }) => ({
      code: code.toLowerCase(),
      message,
      ...(details.length > 0 && { details: details.map(connectDetail) }),
    }),
    headers: (headers) => headers,
  },
};

/** The bytes without padding, and the JSON for people. */
function connectDetail({ type, bytes, json }: ErrorDetail): object {
  return { type, value: bytes.toString('base64').replace(/=+$/, ''), debug: json };
}

/** Successes have status 200, which the document does not show (section 4.3). */
export function writeAnswer(shape: Shape, decision: Decision): HttpAnswer {
  if ('result' in decision) {
    return { status: 200, headers: jsonHeaders, body: stringifyJson(shape.success(decision)) };
  }
  if ('entries' in decision) {
    return { status: 200, headers: jsonHeaders, body: inChunks(listTexts(shape, decision)) };
  }
  const { code, status = codes[code].status, isBare = false } = decision;
  const headers = shape.headers(decision.headers ?? {}, decision);
  if (isBare) return { status, headers, body: '' };
  return { status, headers: { ...jsonHeaders, ...headers }, body: stringifyJson(shape.refusal(decision)) };
}

function* listTexts(shape: Shape, { name, entries, type }: EntryList): Generator<string> {
  yield `{"${name}":[`;
  let separator = '';
  for (const result of entries) {
    yield `${separator}${stringifyJson(shape.success({ result, type }))}`;
    separator = ',';
  }
  yield ']}';
}

const jsonHeaders = { 'content-type': 'application/json' };
