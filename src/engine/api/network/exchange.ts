import type { Dispatcher } from 'undici';
import type { Method } from '../../../domain/terms.ts';
import type { AnswerParts } from '../answer-json.ts';
import { type AnswerHeaders, headerValues, withGatewayHeaders } from '../headers.ts';
import { BodyFlow } from './body-flow.ts';
import { type ContentProblem, decodeContent, decodeText } from './content-encoding.ts';
import type { Stop } from './stop.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
  readonly problem?: ContentProblem;
  /** Whether the body went to `into`: the member `body` is then empty. */
  readonly isPassedOn?: true;
}

/** How far a request got. `unsent`: no byte was written; `sent`: it may have arrived; `answering`: the head of an answer arrived. */
export type RequestProgress = 'unsent' | 'sent' | 'answering';

export type ExchangeEnding =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  | (ExchangeProgress & { readonly kind: 'lost'; readonly error: Error })
  | (ExchangeProgress & { readonly kind: 'stopped' });

export interface ExchangeProgress {
  readonly progress: RequestProgress;
  readonly status?: number;
}

export interface ExchangeOptions {
  readonly stop: Stop;
  /** The largest decompressed body that is kept in memory. */
  readonly maxAnswerBytes: number;
  /** Takes the body of a 2xx answer, which is then not kept in memory. */
  readonly into?: AnswerParts | undefined;
  readonly onSent?: (() => void) | undefined;
  readonly observer?: RequestObserver | undefined;
}

/** Counts each HTTP request once, including repeated requests and those with a second token. */
export interface RequestObserver {
  started(): void;
  /** Called when a request is over. @param sent absent when no byte was written: the server then knows nothing about the request */
  ended(sent?: SentRequest): void;
}

/** A request that the server may have received. */
export interface SentRequest {
  /** The HTTP status. Present when the head of the answer arrived. */
  readonly status?: number | undefined;
  /** The time from the call on, including the wait for a connection. */
  readonly durationMs: number;
}

export interface WireRequest {
  readonly origin: string;
  readonly method: Method;
  readonly path: string;
  /** The names and values of headers in turn. */
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
): Promise<ExchangeEnding> {
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

/** An exchange is an object of a class, because closures for each call would burden the garbage collector. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #resolve: (ending: ExchangeEnding) => void;
  readonly #reject: (error: Error) => void;
  readonly #startedAt = performance.now();
  #isOver = false;
  #controller: Dispatcher.DispatchController | undefined;
  #progress: RequestProgress = 'unsent';
  #status: number | undefined;
  #headers: AnswerHeaders = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #flow: BodyFlow | undefined;

  constructor(
    options: ExchangeOptions,
    resolve: (ending: ExchangeEnding) => void,
    reject: (error: Error) => void,
  ) {
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
    const { into } = this.#options;
    if (into !== undefined && status < 300) this.#flow = new BodyFlow(into.bytes, encodingOf(headers));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#flow !== undefined) {
      // An answer of any length is in time as long as parts of it come.
      this.#options.stop.restart();
      this.#flow.write(chunk, controller);
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxAnswerBytes)
      controller.abort(Object.assign(new Error('too large'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' }));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#flow === undefined) {
      this.#endWithAnswer(this.#body());
      return;
    }
    void this.#flow
      .end()
      .then((problem) => this.#endWithAnswer({ body: '', isPassedOn: true, ...(problem && { problem }) }));
  }

  #body(): Pick<HttpAnswer, 'body' | 'problem'> {
    const [first, ...others] = this.#chunks;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#chunks);
    // The encoding is read from the headers of the connection, not from those that a gateway forwards.
    return bodyOf(bytes, this.#headers, this.#options.maxAnswerBytes);
  }

  #endWithAnswer(content: Omit<HttpAnswer, 'status' | 'headers'>): void {
    const headers = withGatewayHeaders(this.#headers);
    this.#end({ kind: 'answer', answer: { status: this.#status ?? 0, headers, ...content } });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') this.fail(error);
    else this.#end({ kind: 'lost', error, ...this.#progressSoFar() });
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#close();
    this.#reject(error);
  }

  stop(): void {
    this.#end({ kind: 'stopped', ...this.#progressSoFar() });
    this.#controller?.abort(new Error('stopped'));
  }

  #end(ending: ExchangeEnding): void {
    if (this.#isOver) return;
    this.#close();
    if (ending.kind !== 'answer') this.#flow?.abandon();
    this.#resolve(ending);
  }

  #close(): void {
    const { stop, observer } = this.#options;
    this.#isOver = true;
    stop.step = undefined;
    const sent = { status: this.#status, durationMs: performance.now() - this.#startedAt };
    observer?.ended(this.#progress === 'unsent' ? undefined : sent);
  }

  #progressSoFar(): ExchangeProgress {
    const status = this.#status;
    return status === undefined ? { progress: this.#progress } : { progress: this.#progress, status };
  }
}

/** Decodes a body. Some proxies decompress bodies and keep the headers: such bytes are taken as they are. */
function bodyOf(
  bytes: Buffer,
  headers: AnswerHeaders,
  maxBytes: number,
): Pick<HttpAnswer, 'body' | 'problem'> {
  const encoding = encodingOf(headers);
  const [contentType] = headerValues(headers, 'content-type');
  if (encoding === '') return { body: decodeText(bytes, contentType) };
  const content = decodeContent(bytes, encoding, maxBytes);
  return content.ok
    ? { body: decodeText(content.bytes, contentType) }
    : { body: decodeText(bytes, contentType), problem: content.problem };
}

function encodingOf(headers: AnswerHeaders): string {
  return headerValues(headers, 'content-encoding').join(',');
}
