import { type Dispatcher, Pool } from 'undici';
import { connectMs, connectWithin } from '../../base/connect-attempt.ts';
import { usageError } from '../../base/errors/errors.ts';
import { harmlessCallback, warnOf } from '../../base/errors/harmless.ts';
import type { ReceivedAnswer } from '../../domain/terms.ts';
import { interpret, type ParsedAnswer, receivedAnswer, requestIdOf } from './answer.ts';
import type { AnswerParts } from './answer-json.ts';
import { type BaseUrlOptions, parseBaseUrl } from './base-url.ts';
import { type ApiFailure, apiFailure, serverText } from './failure.ts';
import { type StatedLimit, statedLimits } from './limits.ts';
import {
  type ExchangeEnding,
  type ExchangeOptions,
  exchange,
  type RequestObserver,
  type WireRequest,
} from './network/exchange.ts';
import { lostFailure, stopFailure } from './network/network-failure.ts';
import { chooseProxy } from './network/proxy.ts';
import { Stop } from './network/stop.ts';
import { tunnelDispatcher } from './network/tunnel.ts';
import { type ApiRequest, withHeaders } from './request.ts';
import { authFailure, type Credentials, credentialsFrom } from './token/credentials.ts';
import { type TokenSource, tokenFromValue } from './token/token.ts';
import type { TokenMask } from './token/token-mask.ts';
import type { IgnoredWaits } from './wait-reader.ts';

/** Time-outs in milliseconds. Those of headers and body are checked about twice a second. */
export interface Timeouts {
  /** The time-out for a connection, including TLS. Default: 5000. */
  readonly connectMs: number;
  /** The time-out from the end of the request to the head of the answer. Default: 30000. */
  readonly headersMs: number;
  /** The time-out between two parts of the answer's body. Default: 30000. */
  readonly bodyMs: number;
  /** The time-out for a whole call, including waits for a connection; it restarts after each wait for a token. Default: 60000. */
  readonly totalMs: number;
}

export interface ClientOptions extends BaseUrlOptions {
  /** The base URL of the API, as `parseBaseUrl` accepts it. */
  readonly baseUrl: string;
  /** The token, or its source (`tokenFromCommand`, `tokenFromFile`). Any text will do if no operation needs a token. */
  readonly token: string | TokenSource;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** The most connections at a time; further calls wait. Default: 10. */
  readonly connections?: number | undefined;
  /** Environment variables, such as `process.env`: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` select a proxy. Default: no proxy. */
  readonly proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** The value of the header `User-Agent`. Default: `callquality-batch`. */
  readonly userAgent?: string | undefined;
  /** The largest body of an answer, in bytes. Default: 16777216 (16 MiB). */
  readonly maxAnswerBytes?: number | undefined;
  /** Counts the requests. Default: requests are not counted. */
  readonly observer?: RequestObserver | undefined;
}

export const defaultTimeouts = {
  connectMs,
  headersMs: 30_000,
  bodyMs: 30_000,
  totalMs: 60_000,
} as const satisfies Timeouts;

export interface ApiClient {
  /** The base URL of the API, normalized. */
  readonly baseUrl: string;
  /** Sends a request. Returns faults of the server, the network or the token file as failures. */
  readonly send: (request: ApiRequest, options?: SendOptions) => Promise<ApiAnswer>;
  /** Closes the client after the calls in flight; later calls fail with `CLIENT_CLOSED`. */
  readonly close: () => Promise<void>;
}

export interface SendOptions {
  /** Stops the call, which then gives a failure of class `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to return the HTTP answer as the member `received`. Default: false. */
  readonly keepAnswer?: boolean | undefined;
  /** Called each time a request has been handed to the network. */
  readonly onSent?: (() => void) | undefined;
  /** Takes the body of a 2xx answer; `body` is then null, and the total time-out is for each part. Default: `body` has it. */
  readonly into?: AnswerParts | undefined;
}

/** The parsed JSON of a 2xx answer with exact numbers, or a failure. */
export type ApiAnswer = CallFigures & ParsedAnswer;

/** The figures of a call, also of a failed one. */
export interface CallFigures {
  /** The number of HTTP requests: 0 when no connection could be made, 2 or 3 when the token was renewed. */
  readonly requests: number;
  readonly durationMs: number;
  /** The limits on calls that the last answer states. */
  readonly limits?: readonly StatedLimit[];
  /** Waits in the last answer that are longer than 24 hours or unreadable: the value by the name of the header. */
  readonly ignoredWaits?: ReadonlyMap<string, string>;
  /** The id of the last request, from `X-Request-Id` or a similar header, or from a `RequestInfo`. */
  readonly requestId?: string;
  /** The last answer. Only with `keepAnswer`. */
  readonly received?: ReceivedAnswer;
}

export function createClient(options: ClientOptions): ApiClient {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const baseUrl = parseBaseUrl(options.baseUrl, options);
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const tokens = typeof options.token === 'string' ? tokenFromValue(options.token) : options.token;
  if (typeof tokens?.current !== 'function')
    throw usageError(
      'TOKEN_EMPTY',
      'The access token is missing: pass a text, tokenFromFile or tokenFromCommand.',
    );
  const maxAnswerBytes = options.maxAnswerBytes ?? 16 * 1024 * 1024;
  const { allowInsecureHttp, proxyVariables: variables = {} } = options;
  const observer = options.observer && harmlessObserver(options.observer);
  const proxy = chooseProxy(origin, { variables, allowInsecureHttp });
  const connecting = {
    connections: options.connections ?? 10,
    connect: connectWithin(timeouts.connectMs),
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    // A request written just as the server closes an idle connection is lost in an unclear way. Most servers keep idle connections for 5 s
    // or more.
    keepAliveTimeout: 4000,
    pipelining: 1,
    allowH2: false,
  };
  const dispatcher = proxy === undefined ? new Pool(origin, connecting) : tunnelDispatcher(proxy, connecting);

  const credentials = credentialsFrom(tokens, options.userAgent);

  async function callWith(
    credentials: Credentials,
    request: ApiRequest,
    stop: Stop,
    { keepAnswer = false, into, onSent }: SendOptions,
  ): Promise<Call> {
    const { method = 'POST', path, headers: own, body, auth } = request;
    const refused = authFailure(credentials, auth);
    if (refused !== undefined) return failedCall(refused);
    const { mask } = credentials;
    if (into !== undefined) into.mask = mask;
    const usual = credentials.headersOf(request);
    const wire = {
      origin,
      method,
      path: prefix + path,
      headers: own === undefined ? usual : withHeaders(usual, own),
      body: body === '' ? null : body,
    };
    const ending = await repeatUnsent(dispatcher, wire, { stop, maxAnswerBytes, into, onSent, observer });
    if (ending.kind !== 'answer') {
      const failure =
        ending.kind === 'lost' ? lostFailure(ending.error, ending, proxy) : stopFailure(ending, stop.reason);
      return failedCall(failure, ending.progress === 'unsent' ? 0 : 1);
    }
    const { answer } = ending;
    const now = Date.now();
    const ignored: IgnoredWaits = new Map();
    const limits = statedLimits(answer.headers, now, ignored);
    const parsed = interpret(answer, { now, mask, ignored });
    const requestId = requestIdOf(answer, mask);
    return {
      requests: 1,
      ...(limits.length > 0 && {
        limits: limits.map((limit) => ({ ...limit, name: mask.text(limit.name) })),
      }),
      ...(requestId !== undefined && { requestId }),
      ...(keepAnswer && { received: receivedAnswer(answer, mask) }),
      ...(ignored.size > 0 && { ignoredWaits: cleaned(ignored, mask) }),
      ...parsed,
    };
  }

  /** Repeats the call with another token when the API refuses the current one. */
  async function call(request: ApiRequest, stop: Stop, options: SendOptions): Promise<Call> {
    const current = await stop.waitWithoutTimeout(credentials.current());
    if (current === undefined) return failedCall(stopFailure({ progress: 'unsent' }, stop.reason));
    if ('class' in current) return failedCall(current);
    const first = await callWith(current, request, stop, options);
    return isRefused(first) ? callAgain(current, first, request, stop, options) : first;
  }

  async function callAgain(
    used: Credentials,
    first: Call,
    request: ApiRequest,
    stop: Stop,
    options: SendOptions,
  ): Promise<Call> {
    // A token that another call has renewed meanwhile may also be refused; a token renewed for this call is the last.
    const isLast = credentials.areLatest(used);
    const fresh = await stop.waitWithoutTimeout(credentials.after(used));
    if (fresh === undefined)
      return failedCall(stopFailure({ progress: 'unsent' }, stop.reason), first.requests);
    if ('class' in fresh) return { ...first, ...failedCall(fresh, first.requests) };
    if (fresh.token === used.token) return first;
    const next = await callWith(fresh, request, stop, options);
    const second = { ...next, requests: first.requests + next.requests };
    return isRefused(second) && !isLast ? callAgain(fresh, second, request, stop, options) : second;
  }

  let underWay = 0;
  let closing: Promise<void> | undefined;
  let onIdle = (): void => {};

  async function send(request: ApiRequest, options: SendOptions = {}): Promise<ApiAnswer> {
    const start = performance.now();
    const stop = new Stop(timeouts.totalMs, options.signal);
    underWay++;
    try {
      const outcome = closing ? callAfterClose : await call(request, stop, options);
      return { durationMs: Math.round(performance.now() - start), ...outcome };
    } finally {
      stop.release();
      options.into?.bytes.end();
      underWay--;
      if (underWay === 0) onIdle();
    }
  }

  async function close(): Promise<void> {
    if (underWay > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    await dispatcher.close();
  }

  return {
    baseUrl,
    send,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function harmlessObserver(observer: RequestObserver): RequestObserver {
  const report = warnOf('The observer of requests fails');
  return {
    started: harmlessCallback(() => observer.started(), report),
    ended: harmlessCallback((sent) => observer.ended(sent), report),
  };
}

function cleaned(waits: IgnoredWaits, mask: TokenMask): ReadonlyMap<string, string> {
  return new Map([...waits].map(([header, value]) => [header, serverText(value, mask)]));
}

function isRefused(answer: Call): boolean {
  return !answer.ok && answer.failure.code === 'UNAUTHENTICATED';
}

type Call = ParsedAnswer & Omit<CallFigures, 'durationMs'>;

function failedCall(failure: ApiFailure, requests = 0): Call {
  return { ok: false, failure, requests };
}

const callAfterClose = failedCall(apiFailure('CLIENT_CLOSED', 'The client was closed'));

/** The pauses before a request that was not sent is repeated. The caller waits longer while a server is unreachable. */
const pausesMs = [100, 300];

/** Repeats a request up to two times, as long as it fails before any byte was written and for a transient reason. */
async function repeatUnsent(
  dispatcher: Dispatcher,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<ExchangeEnding> {
  for (const pauseMs of pausesMs) {
    const ending = await exchange(dispatcher, request, options);
    if (!isTransient(ending)) return ending;
    // The pause has a random part, so that calls that failed together are not repeated together.
    await options.stop.pause(pauseMs * (1 + Math.random()));
    if (options.stop.reason !== undefined) return { kind: 'stopped', progress: 'unsent' };
  }
  return exchange(dispatcher, request, options);
}

function isTransient(ending: ExchangeEnding): boolean {
  if (ending.kind !== 'lost') return false;
  const failure = lostFailure(ending.error, ending);
  return failure.class === 'unreachable' && failure.code !== 'TLS_ERROR';
}
