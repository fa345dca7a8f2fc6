import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { fatalError } from '../../errors.ts';
import { packageRoot } from '../../package.ts';
import { circumstance, systemError } from '../../system-error.ts';
import { deferred, orAfter } from '../../waiting.ts';
import { ensureDatabase } from './template.ts';

export interface StatementResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
}

/** What the main thread asks of the thread that runs PGlite. */
export type Request = Statement & { readonly id: number };

type Statement =
  | { readonly type: 'query'; readonly text: string; readonly params: readonly unknown[] }
  | { readonly type: 'close' };

/** What that thread says. */
export type Reply =
  | { readonly type: 'opened' }
  | { readonly type: 'result'; readonly id: number; readonly result: StatementResult }
  /** A statement has failed; without one (0), the disk has refused something, also before it is opened. */
  | { readonly type: 'error'; readonly id: number; readonly error: StatementError }
  | { readonly type: 'notification'; readonly channel: string; readonly payload: string };

/** What a statement failed with: a PostgreSQL error, of which BullMQ reads `code` (SQLSTATE) and `detail`, or PGlite's end. */
export interface StatementError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly detail?: string;
}

/** BullMQ asks again as soon as it is refused: at once, that would leave no time for timers, nor for an end. */
const refusedAfterMs = 20;
/** A database that has not closed by then is left as a crash would leave it. */
const closingLimitMs = 10_000;

/**
 * PostgreSQL's code is compiled once, quickly, and not a second time for speed: that takes 2.5 s of CPU time and 80 MB,
 * and what a run asks of it is too little to earn them back. A function is checked and compiled when it is called for the first
 * time: most are never called.
 */
const v8Flags = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering', '--wasm-lazy-validation'];

/** A thread that loads PGlite, and opens the folder that it is told. */
export type SessionThread = ReturnType<typeof startThread>;

/** Starts the thread of a session. It keeps no process alive until it is given its folder. */
export function startThread() {
  for (const flag of v8Flags) setFlagsFromString(flag);
  // The built file: threads need JavaScript.
  const thread = new Worker(new URL('dist/bin/thread.js', packageRoot), {
    // Flags of the main program, such as --input-type, need not suit a thread.
    execArgv: [],
    // PGlite prints debugging aids that belong in nobody's terminal.
    stdout: true,
    stderr: true,
  });
  thread.unref();
  thread.stdout.resume();
  thread.stderr.resume();
  const opened = once(thread, 'message');
  // What keeps it from loading is told when it is to open a folder.
  opened.catch(() => {});
  return { thread, opened };
}

/**
 * Has PGlite open a folder (made when it does not exist) and waits until it answers.
 *
 * @throws a `SystemError` when the disk is full or may not be used, a fatal error `DATASTORE_UNUSABLE` when the folder
 *   can't be opened for another reason.
 */
export async function openSession(folder: string, { thread, opened }: SessionThread): Promise<Session> {
  thread.ref();
  try {
    // Here, where there is nothing else to do until the thread has loaded what it needs.
    await ensureDatabase(folder);
    thread.postMessage(folder);
    const [said] = (await opened) as [Reply];
    if (said.type === 'error') throw asError(said.error);
  } catch (cause) {
    void thread.terminate();
    const reason = systemError(cause, folder)?.what ?? (cause as Error).message;
    throw (
      circumstance(cause, folder) ??
      fatalError(
        'DATASTORE_UNUSABLE',
        `The embedded datastore in ${folder} can't be opened: ${reason}. ` +
          'Move the folder away, then type "cqbatch resume": unfinished runs continue without it, and mark rows that were in ' +
          'progress as unclear.',
        cause,
      )
    );
  }
  return new Session(thread, folder);
}

/** One PostgreSQL session, kept by a thread of its own. */
export class Session {
  readonly #lost = deferred<Error>();
  /** Resolves with the reason when the thread ends without having been asked to, or its disk refuses. */
  readonly lost = this.#lost.promise;
  /** Called with what PostgreSQL notifies of. */
  onNotification: (channel: string, payload: string) => void = () => {};
  readonly #folder: string;
  readonly #thread: Worker;
  readonly #waiting = new Map<
    number,
    { resolve(result: StatementResult): void; reject(error: Error): void }
  >();
  #lastId = 0;
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(thread: Worker, folder: string) {
    this.#thread = thread;
    this.#folder = folder;
    let cause: unknown;
    thread.on('message', (reply: Reply) => this.#receive(reply));
    thread.on('error', (error) => {
      cause = error;
    });
    thread.on('exit', () => this.#end(cause));
  }

  /** @throws the PostgreSQL error with `code` and `detail`; a fatal error once the session is lost. */
  query(text: string, params: readonly unknown[] = []): Promise<StatementResult> {
    return this.#send({ type: 'query', text, params });
  }

  /** Idempotent. Never fails: what was not left in order is put in order at the next opening. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#failure === undefined)
      await orAfter(this.#send({ type: 'close' }), closingLimitMs).catch(() => {});
    // It has nothing to do any more, and its end takes longer than that of the database.
    this.#thread.unref();
    void this.#thread.terminate();
  }

  #send(statement: Statement): Promise<StatementResult> {
    const failure = this.#failure;
    if (failure !== undefined) return pause(refusedAfterMs).then(() => Promise.reject(failure));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#thread.postMessage({ ...statement, id } satisfies Request);
    });
  }

  #receive(reply: Reply): void {
    if (reply.type === 'opened') return;
    if (reply.type === 'notification') {
      this.onNotification(reply.channel, reply.payload);
      return;
    }
    if (reply.type === 'error' && isFinal(reply.error)) {
      this.#end(reply.error);
      return;
    }
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === 'result') waiting?.resolve(reply.result);
    else waiting?.reject(asError(reply.error));
  }

  #end(cause: unknown): void {
    if (this.#failure !== undefined) return;
    const said = (cause as Error | undefined)?.message;
    const why = said === undefined ? '' : ` (${said})`;
    const failure =
      systemError(cause, this.#folder) ??
      fatalError(
        'DATASTORE_LOST',
        `The embedded datastore in ${this.#folder} stopped unexpectedly${why}.`,
        cause,
      );
    this.#failure = failure;
    for (const { reject } of this.#waiting.values()) reject(failure);
    this.#waiting.clear();
    // After a write to its log that failed, PostgreSQL takes statements and never answers.
    void this.#thread.terminate();
    if (this.#closing === undefined) this.#lost.resolve(failure);
  }
}

function asError(error: StatementError): Error {
  return Object.assign(new Error(error.message), error);
}

/** Whether the error ends the session: the system refused something, or the error is not one of PostgreSQL's. */
function isFinal(error: StatementError): boolean {
  return (
    systemError(error) !== undefined || ['RuntimeError', 'ErrnoError', 'ExitStatus'].includes(error.name)
  );
}
