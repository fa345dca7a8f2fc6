import type { Dispatcher } from 'undici';
import type { Method } from '../../domain.ts';
import type { HttpAnswer } from '../answer.ts';
import { type AnswerHeaders, headerValues } from '../headers.ts';
import { decodeContent } from './content-encoding.ts';
import type { Stop } from './stop.ts';

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

/** As undici says it of an upgrade that was not asked for. */
export const switchedProtocols = 'bad upgrade';

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
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(stop, maxAnswerBytes, { resolve, reject });
    if (handler.ended) return;
    dispatcher.dispatch({ ...request, idempotent: false }, handler);
    onSent?.();
  });
}

interface Settle {
  readonly resolve: (ending: Ending) => void;
  readonly reject: (error: Error) => void;
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  ended = false;
  #progress: RequestProgress = 'unsent';
  #status: number | undefined;
  #headers: AnswerHeaders = {};
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  readonly #stop: Stop;
  readonly #maxAnswerBytes: number;
  readonly #settle: Settle;

  constructor(stop: Stop, maxAnswerBytes: number, settle: Settle) {
    this.#stop = stop;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#settle = settle;
    if (stop.reason !== undefined) this.#onStop();
    else stop.addListener(this.#onStop);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request that was stopped while it waited for a connection must not go out any more.
    if (this.ended) {
      controller.abort(new Error('stopped before it was sent'));
      return;
    }
    this.#controller = controller;
    this.#progress = 'sent';
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // undici can't go on after this one, and would fail on what it expects itself.
    if (status === 101) controller.abort(new Error(switchedProtocols));
    if (status < 200) return;
    this.#progress = 'answering';
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...others] = this.#chunks;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#chunks);
    const answer = { status: this.#status ?? 0, headers: this.#headers, ...this.#bodyOf(bytes) };
    this.#end({ kind: 'answer', answer });
  }

  /** What can't be decompressed is taken as it is: some proxies decompress answers and leave their headers. */
  #bodyOf(bytes: Buffer): Pick<HttpAnswer, 'body' | 'problem'> {
    const encoding = headerValues(this.#headers, 'content-encoding').join(',');
    if (encoding === '') return { body: decoder.decode(bytes) };
    const content = decodeContent(bytes, encoding, this.#maxAnswerBytes);
    return content.ok
      ? { body: decoder.decode(content.bytes) }
      : { body: decoder.decode(bytes), problem: content.problem };
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') this.#settle.reject(error);
    this.#end({ kind: 'lost', error, ...this.#reached() });
  }

  readonly #onStop = (): void => {
    this.#end({ kind: 'stopped', ...this.#reached() });
    this.#controller?.abort(new Error('stopped'));
  };

  #reached(): Reached {
    return { progress: this.#progress, ...(this.#status !== undefined && { status: this.#status }) };
  }

  #end(ending: Ending): void {
    if (this.ended) return;
    this.ended = true;
    this.#stop.removeListener(this.#onStop);
    this.#settle.resolve(ending);
  }
}

/** Drops a byte order mark; bytes that are not UTF-8 become U+FFFD. */
const decoder = new TextDecoder();
