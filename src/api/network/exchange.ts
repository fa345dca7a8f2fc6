import { EventEmitter } from 'node:events';
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
  { stop, maxAnswerBytes, onSent }: ExchangeOptions,
): Promise<Ending> {
  if (stop.reason !== undefined) return Promise.resolve({ kind: 'stopped', progress: 'unsent' });
  return new Promise((resolve, reject) => {
    let isOver = false;
    let controller: Dispatcher.DispatchController | undefined;
    let progress: RequestProgress = 'unsent';
    let status: number | undefined;
    let headers: AnswerHeaders = {};
    const chunks: Buffer[] = [];

    const reached = (): Reached => ({ progress, ...(status !== undefined && { status }) });
    function end(ending: Ending): void {
      if (isOver) return;
      isOver = true;
      stop.onStop = ignore;
      resolve(ending);
    }
    stop.onStop = () => {
      end({ kind: 'stopped', ...reached() });
      controller?.abort(new Error('stopped'));
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // A request that was stopped while it waited for a connection must not go out any more.
        if (isOver) return started.abort(new Error('stopped before it was sent'));
        controller = started;
        progress = 'sent';
      },
      onResponseStart(started, startedWith, fields) {
        // undici can't go on after this one, and would fail on what it expects itself. The words are its own of an
        // upgrade that was not asked for.
        if (startedWith === 101) started.abort(new Error('bad upgrade'));
        if (startedWith < 200) return;
        progress = 'answering';
        status = startedWith;
        headers = fields;
      },
      onResponseData: (_, chunk) => void chunks.push(chunk),
      onResponseEnd() {
        const [first, ...others] = chunks;
        const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(chunks);
        const answer = { status: status ?? 0, headers, ...bodyOf(bytes, headers, maxAnswerBytes) };
        end({ kind: 'answer', answer });
      },
      onResponseError(_, error) {
        if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') reject(error);
        end({ kind: 'lost', error, ...reached() });
      },
    };
    dispatcher.dispatch({ ...request, idempotent: false }, handler);
    onSent?.();
  });
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
  readonly #outer: AbortSignal | undefined;

  constructor(milliseconds: number, outer?: AbortSignal) {
    this.#timer = setTimeout(() => this.#fire('timed-out'), milliseconds);
    this.#outer = outer;
    if (outer?.aborted) {
      this.#fire('aborted');
    } else if (outer !== undefined) {
      allowManyListeners(outer);
      outer.addEventListener('abort', this.#onAbort);
    }
  }

  /** Undefined as long as the call may go on. */
  get reason(): CallStop | undefined {
    return this.#reason;
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
    this.#outer?.removeEventListener('abort', this.#onAbort);
    this.onStop = ignore;
  }

  readonly #onAbort = (): void => this.#fire('aborted');

  #fire(reason: CallStop): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.onStop();
  }
}

const manyAllowed = new WeakSet<AbortSignal>();

/** Many calls share one signal; they are not a leak. To say so again for each would take longer than to listen. */
function allowManyListeners(signal: AbortSignal): void {
  if (manyAllowed.has(signal)) return;
  manyAllowed.add(signal);
  EventEmitter.setMaxListeners(0, signal);
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

/** Makes a request, and tells of it. */
export async function watched(
  watch: RequestWatch | undefined,
  request: () => Promise<Ending>,
): Promise<Ending> {
  if (watch === undefined) return request();
  const begun = performance.now();
  let sent: SentRequest | undefined;
  watch.began();
  try {
    const ending = await request();
    const status = ending.kind === 'answer' ? ending.answer.status : ending.status;
    const isSent = ending.kind === 'answer' || ending.progress !== 'unsent';
    if (isSent) sent = { status, durationMs: performance.now() - begun };
    return ending;
  } finally {
    watch.ended(sent);
  }
}
