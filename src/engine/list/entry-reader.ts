import { randomBytes } from 'node:crypto';
import { fatalError } from '../../base/errors/errors.ts';
import { traceparent } from '../../domain/trace.ts';
import type { ApiClient } from '../api/client.ts';
import type { ApiFailure } from '../api/failure.ts';
import { type DoneList, listedWords } from '../operation/list-definition.ts';
import { refusalText } from '../operation/operation.ts';
import { type CallPace, type ListWait, SteadyCalls } from './steady-calls.ts';

export interface EntryReaderOptions extends CallPace {
  readonly client: Pick<ApiClient, 'send'>;
}

/** What the service shows of an entry: that the operation has acted on it, what is there instead, or nothing. */
export type SeenEntry =
  | { readonly is: 'done' | 'gone' }
  | { readonly is: 'different'; readonly what: string };

/** Reads single entries, one call at a time. */
export class EntryReader {
  read = 0;
  readonly #done: DoneList;
  readonly #options: EntryReaderOptions;
  readonly #steady: SteadyCalls;
  readonly #traceId = randomBytes(16).toString('hex');

  constructor(done: DoneList, options: EntryReaderOptions) {
    this.#done = done;
    this.#options = options;
    this.#steady = new SteadyCalls(options);
  }

  get waiting(): ListWait | undefined {
    return this.#steady.waiting;
  }

  get silentMs(): number {
    return this.#steady.silentMs;
  }

  /** Reads one entry. @throws a fatal error `ENTRY_UNREADABLE`; the reason of the signal */
  async readEntry(id: string): Promise<SeenEntry> {
    const { client, signal } = this.#options;
    const request = this.#done.one(id);
    const headers = { ...request.headers, traceparent: traceparent(this.#traceId) };
    for (;;) {
      await this.#steady.waitForTurn();
      const answer = await client.send({ ...request, headers }, { signal });
      signal.throwIfAborted();
      if (answer.ok || isGone(answer.failure)) {
        this.#steady.noteAnswer();
        this.read++;
        return answer.ok ? this.#seenIn(answer.body, id) : { is: 'gone' };
      }
      if (!(await this.#steady.mayRepeat(answer.failure)))
        throw this.#unreadable(answer.failure, id, request);
    }
  }

  #seenIn(body: unknown, id: string): SeenEntry {
    const what = this.#done.differs(body, id);
    return what === undefined ? { is: 'done' } : { is: 'different', what };
  }

  #unreadable(failure: ApiFailure, id: string, { path }: { readonly path: string }): Error {
    const { list } = this.#done;
    const why = `${refusalText(list, failure)} (${failure.code}; asked: ${path})`;
    return fatalError('ENTRY_UNREADABLE', `Can't read ${id} of the ${listedWords(list)}: ${why}.`);
  }
}

/** Whether an entry is gone. A router's 404 is about the path, and has another class. */
function isGone({ code, class: failureClass }: ApiFailure): boolean {
  return code === 'NOT_FOUND' && failureClass === 'permanent';
}
