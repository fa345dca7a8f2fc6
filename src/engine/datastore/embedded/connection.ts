import { once } from 'node:events';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { deferred, withTimeout } from '../../../base/async/waiting.ts';
import { fatalError } from '../../../base/errors/errors.ts';
import { circumstance, SystemError, systemError } from '../../../base/errors/system-error.ts';
import { packageRoot } from '../../../base/package.ts';
import { isFinal } from './final-error.ts';
import { ensureDatabase } from './template.ts';

export interface ThreadData {
  /** Whether this program keeps compiled code: the thread then does, too. */
  readonly keepsCompiledCode: boolean;
}

export interface StatementResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
}

export type Request = Statement & { readonly id: number };

type Statement =
  | { readonly type: 'query'; readonly text: string; readonly params: readonly unknown[] }
  | { readonly type: 'close' };

export type Reply =
  | { readonly type: 'opened' }
  | { readonly type: 'result'; readonly id: number; readonly result: StatementResult }
  /** Id 0: the disk refused a write, perhaps before the database was open. */
  | { readonly type: 'error'; readonly id: number; readonly error: StatementError }
  | { readonly type: 'notification'; readonly channel: string; readonly payload: string };

/** A PostgreSQL error, of which BullMQ reads `code` (SQLSTATE) and `detail`, or PGlite's end. */
export interface StatementError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly detail?: string;
}

/** BullMQ retries at once on a lost session: without a delay, timers and the end of the process would starve. */
const refusedAfterMs = 20;
/** Afterwards the thread is ended, which leaves the files as after a crash. */
const closingLimitMs = 10_000;

/** False for versions of Node that keep none. */
function keepsCompiledCode(): boolean {
  const { getCompileCacheDir } = module as { readonly getCompileCacheDir?: () => string | undefined };
  return getCompileCacheDir?.() !== undefined;
}

export type ConnectionThread = ReturnType<typeof startThread>;

/** Starts the thread of PGlite, for which the program does not stay alive before the thread has its folder. */
export function startThread() {
  // The thread runs the built file: Node's threads need JavaScript.
  const thread = new Worker(new URL('dist/bin/thread.js', packageRoot), {
    // Flags of the main program, such as --input-type, may not suit a thread.
    execArgv: [],
    workerData: { keepsCompiledCode: keepsCompiledCode() } satisfies ThreadData,
    stdout: true,
    stderr: true,
  });
  thread.unref();
  thread.stdout.resume();
  thread.stderr.resume();
  const opened = once(thread, 'message');
  // An error while the thread loads is reported when a folder is opened.
  opened.catch(() => {});
  return { thread, opened };
}

/**
 * Creates a missing folder, and waits until the thread has opened it.
 *
 * @throws a `SystemError` when the disk is full or access is denied, otherwise a fatal error `DATASTORE_UNUSABLE`
 */
export async function openConnection(
  folder: string,
  { thread, opened }: ConnectionThread,
): Promise<DatabaseConnection> {
  thread.ref();
  try {
    // This thread prepares the files while the other still loads PGlite.
    await ensureDatabase(folder);
    thread.postMessage(folder);
    const [reply] = (await opened) as [Reply];
    if (reply.type === 'error') throw asError(reply.error);
  } catch (cause) {
    void thread.terminate();
    // A system error names a file in the folder: take only its explanation.
    const { path, message } = cause as NodeJS.ErrnoException;
    const reason = path === undefined ? message : (systemError(cause)?.what ?? message);
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
  return new DatabaseConnection(thread, folder);
}

export class DatabaseConnection {
  readonly #lost = deferred<Error>();
  /** Resolves with the reason when the thread ends unexpectedly, or its disk refuses writes. */
  readonly lost = this.#lost.promise;
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

  /** @throws the PostgreSQL error with `code` and `detail`; a fatal error once the session is lost */
  query(text: string, params: readonly unknown[] = []): Promise<StatementResult> {
    return this.#send({ type: 'query', text, params });
  }

  /** Idempotent. Never fails: the next opening repairs an incomplete close. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#failure === undefined)
      await withTimeout(this.#send({ type: 'close' }), closingLimitMs).catch(() => {});
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
      this.#thread.postMessage({ id, ...statement } satisfies Request);
    });
  }

  #stopped(why: string, cause: unknown): Error {
    const what = `The embedded datastore in ${this.#folder} stopped unexpectedly${why}.`;
    return fatalError('DATASTORE_LOST', what, cause);
  }

  #removedError(cause: unknown): Error {
    const what = `the folder ${this.#folder} was removed while it was in use`;
    return new SystemError('DATASTORE_REMOVED', what, 'see what removes files there', cause);
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
    const message = (cause as Error | undefined)?.message;
    const why = message === undefined ? '' : ` (${message})`;
    const failure =
      circumstance(cause, this.#folder) ??
      (existsSync(this.#folder) ? this.#stopped(why, cause) : this.#removedError(cause));
    this.#failure = failure;
    for (const { reject } of this.#waiting.values()) reject(failure);
    this.#waiting.clear();
    // After a failed write to its log, PostgreSQL accepts statements and never answers.
    void this.#thread.terminate();
    if (this.#closing === undefined) this.#lost.resolve(failure);
  }
}

function asError(error: StatementError): Error {
  return Object.assign(new Error(error.message), error);
}
