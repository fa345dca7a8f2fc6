import type { Dispatcher } from 'undici';
import type { Method } from '../../../domain/terms.ts';
import { type AnswerHeaders, headerValues, withGatewayHeaders } from '../headers.ts';
import { type ContentProblem, decodeContent } from './content-encoding.ts';
import { decodeText } from './decode-text.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
  readonly problem?: ContentProblem;
}

/** `unsent`: no byte was written; `sent`: it may have arrived; `answering`: the head of an answer arrived. */
export type RequestProgress = 'unsent' | 'sent' | 'answering';

export type Ending =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  | (Reached & { readonly kind: 'lost'; readonly error: Error })
  | (Reached & { readonly kind: 'stopped' });

export interface Reached {
  readonly progress: RequestProgress;
  readonly status?: number;
}

export interface ExchangeOptions {
  readonly stop: Stop;
  /** Decompressed. */
  readonly maxAnswerBytes: number;
  readonly onSent?: (() => void) | undefined;
  readonly observer?: RequestObserver | undefined;
}

/** Counts each HTTP request once, including those of repeated attempts and of a second token. */
export interface RequestObserver {
  started(): void;
  /** @param sent absent when no byte was written: then the server knows nothing about it */
  ended(sent?: SentRequest): void;
}

/** A request that the server may have received. */
export interface SentRequest {
  /** Present when the head of the answer arrived. */
  readonly status?: number | undefined;
  /** From the call on, with the wait for a connection. */
  readonly durationMs: number;
}

export interface WireRequest {
  readonly origin: string;
  readonly method: Method;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: string | null;
}

/**
 * Makes one request. Rejects if HTTP cannot carry it, never because of the server or the network.
 *
 * Only the dispatcher's lowest level reports when writing starts: a request that was not written was certainly not processed. undici sends
 * a request that is not `idempotent` (GET is, by default) at most once, and fails it when its connection closes.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  options: ExchangeOptions,
): Promise<Ending> {
  if (options.stop.reason !== undefined) return Promise.resolve({ kind: 'stopped', progress: 'unsent' });
  return new Promise((resolve, reject) => {
    const exchanging = new Exchange(options, resolve, reject);
    try {
      dispatcher.dispatch({ idempotent: false, ...request }, exchanging);
      options.onSent?.();
    } catch (error) {
      exchanging.fail(error as Error);
    }
  });
}

/** A class, because closures for each call would be garbage. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #resolve: (ending: Ending) => void;
  readonly #reject: (error: Error) => void;
  readonly #startedAt = performance.now();
  #isOver = false;
  #controller: Dispatcher.DispatchController | undefined;
  #progress: RequestProgress = 'unsent';
  #status: number | undefined;
  #headers: AnswerHeaders = {};
  readonly #chunks: Buffer[] = [];

  constructor(options: ExchangeOptions, resolve: (ending: Ending) => void, reject: (error: Error) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    options.observer?.started();
    options.stop.step = this;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new Error('stopped before it was sent'));
    else {
      this.#controller = controller;
      this.#progress = 'sent';
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // undici can't continue after a 101. This is its message for an unrequested upgrade.
    if (status === 101) controller.abort(new Error('bad upgrade'));
    if (status < 200) return;
    this.#progress = 'answering';
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...others] = this.#chunks;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#chunks);
    // The encoding is that of the connection, whatever a gateway forwards.
    const content = bodyOf(bytes, this.#headers, this.#options.maxAnswerBytes);
    const headers = withGatewayHeaders(this.#headers);
    this.#end({ kind: 'answer', answer: { status: this.#status ?? 0, headers, ...content } });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') this.fail(error);
    else this.#end({ kind: 'lost', error, ...this.#reached() });
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#close();
    this.#reject(error);
  }

  stop(): void {
    this.#end({ kind: 'stopped', ...this.#reached() });
    this.#controller?.abort(new Error('stopped'));
  }

  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#close();
    this.#resolve(ending);
  }

  #close(): void {
    const { stop, observer } = this.#options;
    this.#isOver = true;
    stop.step = undefined;
    const sent = { status: this.#status, durationMs: performance.now() - this.#startedAt };
    observer?.ended(this.#progress === 'unsent' ? undefined : sent);
  }

  #reached(): Reached {
    const status = this.#status;
    return status === undefined ? { progress: this.#progress } : { progress: this.#progress, status };
  }
}

/** Some proxies decompress, and keep the headers: such bytes are taken as they are. */
function bodyOf(
  bytes: Buffer,
  headers: AnswerHeaders,
  maxBytes: number,
): Pick<HttpAnswer, 'body' | 'problem'> {
  const encoding = headerValues(headers, 'content-encoding').join(',');
  const [contentType] = headerValues(headers, 'content-type');
  if (encoding === '') return { body: decodeText(bytes, contentType) };
  const content = decodeContent(bytes, encoding, maxBytes);
  return content.ok
    ? { body: decodeText(content.bytes, contentType) }
    : { body: decodeText(bytes, contentType), problem: content.problem };
}

export type CallStop = 'aborted' | 'timed-out';

/**
 * Stops a call at the caller's signal or the total time-out. An `AbortController` for each call would cost more than the rest of the client,
 * and `AbortSignal.any` leaks.
 */
export class Stop {
  /** What to stop. A call has one step at a time. */
  step: { stop(): void } | undefined;
  readonly #milliseconds: number;
  #reason: CallStop | undefined;
  #timer: NodeJS.Timeout;
  readonly #callsOfSignal: Set<Stop> | undefined;

  constructor(milliseconds: number, signal?: AbortSignal) {
    this.#milliseconds = milliseconds;
    this.#timer = this.#start();
    if (signal?.aborted) this.fire('aborted');
    else this.#callsOfSignal = signal && stopsOf(signal).add(this);
  }

  get reason(): CallStop | undefined {
    return this.#reason;
  }

  /** The first reason counts. */
  fire(reason: CallStop): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.step?.stop();
  }

  /** Ends early when the call must stop. */
  async pause(milliseconds: number): Promise<void> {
    if (this.#reason !== undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.step = {
        stop() {
          clearTimeout(timer);
          resolve();
        },
      };
    });
    this.step = undefined;
  }

  /** Undefined when the caller stops the call. The time-out starts again afterwards: the wait says nothing about the API. */
  async without<Value>(waiting: Promise<Value>): Promise<Value | undefined> {
    if (this.#reason !== undefined) return undefined;
    clearTimeout(this.#timer);
    try {
      return await new Promise<Value | undefined>((resolve, reject) => {
        this.step = { stop: () => resolve(undefined) };
        waiting.then(resolve, reject);
      });
    } finally {
      this.step = undefined;
      this.#timer = this.#start();
    }
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.fire('timed-out'), this.#milliseconds);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#callsOfSignal?.delete(this);
    this.step = undefined;
  }
}

/** One listener for all calls of a signal: separate listeners would take longer than the stop. */
const stops = new WeakMap<AbortSignal, Set<Stop>>();

function stopsOf(signal: AbortSignal): Set<Stop> {
  const existing = stops.get(signal);
  if (existing !== undefined) return existing;
  const all = new Set<Stop>();
  stops.set(signal, all);
  signal.addEventListener(
    'abort',
    () => {
      for (const stop of all) stop.fire('aborted');
    },
    { once: true },
  );
  return all;
}
