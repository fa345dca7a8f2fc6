import { randomBytes } from 'node:crypto';
import { onAbort } from '../../base/async/waiting.ts';
import { isJsonObject } from '../../base/text/json.ts';
import { traceparent } from '../../domain/trace.ts';
import { excerptOf } from '../api/answer.ts';
import { AnswerParts } from '../api/answer-json.ts';
import type { ApiClient } from '../api/client.ts';
import { type ApiFailure, apiFailure } from '../api/failure.ts';
import { type ListedEntry, type OperationList, spellingsOf } from '../operation/list-definition.ts';
import { DigestTable, digest } from '../rows/digest-table.ts';
import { EntrySplitter } from './entry-splitter.ts';
import { listFailure } from './list-failure.ts';
import { type CallPace, type ListWait, SteadyCalls } from './steady-calls.ts';

export interface ListReaderOptions extends CallPace {
  readonly client: Pick<ApiClient, 'send'>;
  /** What the user does when the service has no such list, as a sentence. */
  readonly ifMissing: string;
}

const mostPagesWithoutNews = 1_000;

/** A part of an answer may have a megabyte. Its entries, all at once, would outlive the young generation of the garbage collector. */
const portionBytes = 32 * 1024;

/**
 * Reads a list of the service once, page by page, one call at a time. A page whose answer is cut off is read again. An entry is given once,
 * however often it is listed.
 */
export class ListReader {
  /** The number of entries that were given. */
  listed = 0;
  /** The number of entries that were listed again: the list changed while it was read. */
  repeats = 0;
  /** The number of entries without a readable identifier. */
  unreadable = 0;
  pages = 0;
  /** Whether the last page was read. */
  isWhole = false;
  readonly #list: OperationList;
  readonly #options: ListReaderOptions;
  readonly #traceId = randomBytes(16).toString('hex');
  /** The entries by identifier, with the number of the call that listed each last. */
  readonly #ids = new DigestTable(1);
  readonly #tokens = new DigestTable(0);
  #calls = 0;
  /** The number of the first call for the current page. */
  #firstCall = 1;
  readonly #steady: SteadyCalls;

  constructor(list: OperationList, options: ListReaderOptions) {
    this.#list = list;
    this.#options = options;
    this.#steady = new SteadyCalls(options);
  }

  get waiting(): ListWait | undefined {
    return this.#steady.waiting;
  }

  /** How long the current call has brought nothing. */
  get silentMs(): number {
    return this.#steady.silentMs;
  }

  /**
   * Gives the entries as they come, once.
   *
   * @param isWanted whether the next page is read. Default: all pages are
   * @throws a fatal error `LIST_MISSING`, `LIST_FORBIDDEN`, `LIST_CHANGED` or `LIST_UNREADABLE`; the reason of the signal
   */
  async *entries(
    isWanted: () => boolean = () => true,
  ): AsyncGenerator<readonly ListedEntry[], void, undefined> {
    let pagesWithoutNews = 0;
    for (let token: string | undefined, isLast = false; !isLast && isWanted(); ) {
      const before = this.listed;
      this.#firstCall = this.#calls + 1;
      const next = yield* this.#page(token);
      this.pages++;
      isLast = next === undefined;
      this.isWhole = isLast;
      if (next !== undefined) this.#requireNewToken(next);
      pagesWithoutNews = this.listed === before ? pagesWithoutNews + 1 : 0;
      if (!isLast && pagesWithoutNews === mostPagesWithoutNews)
        throw this.#endlessListFailure(`${mostPagesWithoutNews} pages in a row list nothing new`);
      token = next;
    }
  }

  /** Repeats the call until it has the whole page. Returns the token of the next page. */
  async *#page(
    token: string | undefined,
  ): AsyncGenerator<readonly ListedEntry[], string | undefined, undefined> {
    for (;;) {
      await this.#steady.waitForTurn();
      const outcome = yield* this.#call(token);
      this.#options.signal.throwIfAborted();
      if (outcome.ok) {
        this.#steady.noteAnswer();
        return outcome.next;
      }
      if (!(await this.#steady.mayRepeat(outcome.failure))) throw this.#listFailure(outcome.failure);
    }
  }

  async *#call(
    token: string | undefined,
  ): AsyncGenerator<
    readonly ListedEntry[],
    | { readonly ok: true; readonly next: string | undefined }
    | { readonly ok: false; readonly failure: ApiFailure },
    undefined
  > {
    const parts = new AnswerParts();
    const stop = new AbortController();
    const forget = onAbort(this.#options.signal, () => stop.abort());
    const splitter = new EntrySplitter(spellingsOf(this.#list.entries));
    const decoder = new TextDecoder();
    this.#calls++;
    const request = this.#list.request(token);
    const headers = { ...request.headers, traceparent: traceparent(this.#traceId) };
    const sending = this.#options.client.send({ ...request, headers }, { signal: stop.signal, into: parts });
    try {
      for await (const bytes of parts.bytes) {
        this.#steady.noteAnswerPart();
        for (let at = 0; at < bytes.length; at += portionBytes) {
          const portion = decoder.decode(bytes.subarray(at, at + portionBytes), { stream: true });
          const news = this.#newIn(splitter.push(portion).map((text) => parts.parse(text)));
          if (news.length > 0) yield news;
        }
      }
      const answer = await sending;
      if (!answer.ok) return answer;
      return { ok: true, next: this.#nextIn(parts.parse(splitter.end()), splitter) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const what = `The answer is not a list (${error.message}): ${excerptOf(splitter.textAround, parts.mask)}`;
      return { ok: false, failure: apiFailure('ANSWER_NOT_JSON', what) };
    } finally {
      forget();
      stop.abort();
      await sending;
    }
  }

  #newIn(entries: readonly unknown[]): readonly ListedEntry[] {
    const news: ListedEntry[] = [];
    for (const each of entries) {
      const entry = this.#list.read(each);
      if (entry === undefined) this.unreadable++;
      else if (this.#isNew(entry.id)) news.push(entry);
    }
    this.listed += news.length;
    return news;
  }

  #isNew(id: string): boolean {
    const key = digest(id);
    const known = this.#ids.find(key);
    const entry = known < 0 ? this.#ids.enter(key) : known;
    const call = known < 0 ? undefined : this.#ids.get(entry, 0);
    this.#ids.set(entry, 0, this.#calls);
    if (call === undefined) return true;
    // An entry is no repeat if an earlier call for this page gave it, and its answer was then cut off.
    const isRepeated = call >= this.#firstCall && call < this.#calls;
    if (!isRepeated) this.repeats++;
    return false;
  }

  /** The token of the next page. @throws SyntaxError when the answer has something else in place of the entries */
  #nextIn(rest: unknown, { hasEntries }: EntrySplitter): string | undefined {
    const { entries, next } = this.#list;
    if (!isJsonObject(rest)) throw new SyntaxError('it is no object');
    const members = new Map(Object.entries(rest));
    const take = (name: string): unknown => {
      const found = spellingsOf(name).map((each) => [members.get(each), members.delete(each)] as const);
      return found.map(([value]) => value).find((value) => value !== undefined && value !== null);
    };
    const token = next === undefined ? undefined : take(next);
    const isEmpty = take(entries) === undefined && members.size === 0;
    // Services may leave out an empty list.
    if (!hasEntries && !isEmpty) throw new SyntaxError(`it has no "${entries}"`);
    return token === undefined || token === '' ? undefined : String(token);
  }

  #requireNewToken(token: string): void {
    const key = digest(token);
    if (this.#tokens.find(key) >= 0)
      throw this.#endlessListFailure('a page names an earlier one as the next');
    this.#tokens.enter(key);
  }

  #endlessListFailure(why: string): Error {
    return this.#listFailure(apiFailure('ANSWER_INCOMPLETE', `${why}, so it has no end`, { class: 'halt' }));
  }

  #listFailure(failure: ApiFailure): Error {
    const { path } = this.#list.request(undefined);
    const { ifMissing } = this.#options;
    return listFailure(this.#list, failure, { path, listed: this.listed, page: this.pages + 1, ifMissing });
  }
}
