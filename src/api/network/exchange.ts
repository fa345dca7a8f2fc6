import type { Dispatcher } from 'undici';
import type { Method } from '../../domain.ts';
import { type AnswerHeaders, headerValues } from '../headers.ts';
import { type ContentProblem, decodeContent } from './content-encoding.ts';

/** A complete HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
  /** Why the body is not decompressed, when it should have been. */
  readonly problem?: ContentProblem;
}

/**
 * How far a request came: `unsent` (no byte of it was written), `sent` (it may have arrived), `answering` (the head of
 * an answer arrived).
 */
export type RequestProgress = 'unsent' | 'sent' | 'answering';

/** How one HTTP request ended: with an answer, without one, or because it was stopped. */
export type Ending =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  | (Reached & { readonly kind: 'lost'; readonly error: Error })
  | (Reached & { readonly kind: 'stopped' });

/** How far a request without a complete answer came. */
export interface Reached {
  readonly progress: RequestProgress;
  /** Status of the answer, when its head arrived. */
  readonly status?: number;
}

export interface ExchangeOptions {
  readonly stop: Stop;
  /** Largest body of an answer, decompressed. */
  readonly maxAnswerBytes: number;
  /** Is called when the request has been handed to the network. */
  readonly onSent?: (() => void) | undefined;
  readonly watch?: RequestWatch | undefined;
}

/** Counts the HTTP requests of a client, each once, those of repeated attempts and of a second token among them. */
export interface RequestWatch {
  /** One is under way. */
  began(): void;
  /** It is over. @param sent absent when no byte of it was written: then the server knows nothing of it */
  ended(sent?: SentRequest): void;
}

/** A request that the server may have received. */
export interface SentRequest {
  /** Status of the answer, when its head arrived. */
  readonly status?: number | undefined;
  /** From when it was to be sent, so that waiting for a connection is part of it. */
  readonly durationMs: number;
}

/** A request with everything that goes over the wire. */
export interface WireRequest {
  readonly origin: string;
  readonly method: Method;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: string | null;
}

/**
 * Makes one request. Rejects for a request that HTTP cannot carry, never for what a server or the network does.
 *
 * The dispatcher's lowest level is used because it alone tells when the request begins to be written: only that
 * divides requests that surely were not processed from those that may have been. undici sends a request that is not
 * `idempotent`, as it takes GET to be, at most once: it fails it when its connection closes. So does this.
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
      dispatcher.dispatch({ ...request, idempotent: false }, exchanging);
      options.onSent?.();
    } catch (error) {
      exchanging.fail(error as Error);
    }
  });
}

/** One request while it is under way: what undici tells of it. A class, because closures for each call would be its garbage. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #resolve: (ending: Ending) => void;
  readonly #reject: (error: Error) => void;
  readonly #begunAt = performance.now();
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
    options.watch?.began();
    options.stop.onStop = () => this.#stopped();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request that was stopped while it waited for a connection must not go out any more.
    if (this.#isOver) controller.abort(new Error('stopped before it was sent'));
    else {
      this.#controller = controller;
      this.#progress = 'sent';
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // undici can't go on after this one, and would fail on what it expects itself. The words are its own of an
    // upgrade that was not asked for.
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
    const headers = this.#headers;
    const content = bodyOf(bytes, headers, this.#options.maxAnswerBytes);
    this.#end({ kind: 'answer', answer: { status: this.#status ?? 0, headers, ...content } });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') this.fail(error);
    else this.#end({ kind: 'lost', error, ...this.#reached() });
  }

  /** HTTP can't carry the request. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#close();
    this.#reject(error);
  }

  #stopped(): void {
    this.#end({ kind: 'stopped', ...this.#reached() });
    this.#controller?.abort(new Error('stopped'));
  }

  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#close();
    this.#resolve(ending);
  }

  #close(): void {
    const { stop, watch } = this.#options;
    this.#isOver = true;
    stop.onStop = ignore;
    const sent = { status: this.#status, durationMs: performance.now() - this.#begunAt };
    watch?.ended(this.#progress === 'unsent' ? undefined : sent);
  }

  #reached(): Reached {
    const status = this.#status;
    return status === undefined ? { progress: this.#progress } : { progress: this.#progress, status };
  }
}

/** What can't be decompressed is taken as it is: some proxies decompress answers and leave their headers. */
function bodyOf(
  bytes: Buffer,
  headers: AnswerHeaders,
  maxBytes: number,
): Pick<HttpAnswer, 'body' | 'problem'> {
  const encoding = headerValues(headers, 'content-encoding').join(',');
  if (encoding === '') return { body: decoder.decode(bytes) };
  const content = decodeContent(bytes, encoding, maxBytes);
  return content.ok
    ? { body: decoder.decode(content.bytes) }
    : { body: decoder.decode(bytes), problem: content.problem };
}

/** Drops a byte order mark; bytes that are not UTF-8 become U+FFFD. */
const decoder = new TextDecoder();

function ignore(): void {}

/** What stopped a call before it ended by itself: the caller's signal, or the total time-out. */
export type CallStop = 'aborted' | 'timed-out';

/**
 * One stop for the caller's signal and the total time-out of a call. It is made thousands of times a second, and an
 * `AbortController` with its events would cost more than the rest of the client; `AbortSignal.any` leaks besides.
 */
export class Stop {
  /** Called once when the call is to stop: by what the call does at the moment, which is one thing at a time. */
  onStop: () => void = ignore;
  #reason: CallStop | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #others: Set<Stop> | undefined;

  constructor(milliseconds: number, signal?: AbortSignal) {
    this.#timer = setTimeout(() => this.fire('timed-out'), milliseconds);
    if (signal?.aborted) this.fire('aborted');
    else this.#others = signal && stopsOf(signal).add(this);
  }

  /** Undefined as long as the call may go on. */
  get reason(): CallStop | undefined {
    return this.#reason;
  }

  /** Stops the call. The first reason counts. */
  fire(reason: CallStop): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.onStop();
  }

  /** Resolves after that time, or as soon as the call is to stop. */
  async pause(milliseconds: number): Promise<void> {
    if (this.#reason !== undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.onStop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.onStop = ignore;
  }

  /** To be called when the call has ended. */
  release(): void {
    clearTimeout(this.#timer);
    this.#others?.delete(this);
    this.onStop = ignore;
  }
}

/** The calls that a signal stops. It has one listener for all of them: one each would take longer than the rest of a stop. */
const stops = new WeakMap<AbortSignal, Set<Stop>>();

function stopsOf(signal: AbortSignal): Set<Stop> {
  const known = stops.get(signal);
  if (known !== undefined) return known;
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
