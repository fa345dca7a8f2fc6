import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fatalError } from '../../errors.ts';
import type { OpenData, Reply, Request, StatementResult } from './protocol.ts';

/** One PostgreSQL session, kept by a thread of its own. */
export interface Session {
  /** @throws the PostgreSQL error with `code` and `detail`; a fatal error once the session is lost. */
  query(text: string, params?: readonly unknown[]): Promise<StatementResult>;
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Resolves with the reason when the thread ends without having been asked to. */
  readonly lost: Promise<Error>;
  /** Idempotent. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: StatementResult): void;
  reject(error: Error): void;
}

/**
 * Starts PGlite on a folder (made when it does not exist) and waits until it answers.
 *
 * @throws a fatal error `DATASTORE_UNUSABLE` when the folder can't be opened.
 */
export async function openSession(folder: string): Promise<Session> {
  // The built file: threads need JavaScript.
  const thread = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { folder } satisfies OpenData,
    // Flags of the main program, such as --input-type, need not suit a thread.
    execArgv: [],
    // PGlite prints debugging aids that belong in nobody's terminal.
    stdout: true,
    stderr: true,
  });
  try {
    await once(thread, 'message');
  } catch (cause) {
    throw fatalError(
      'DATASTORE_UNUSABLE',
      `The embedded datastore in ${folder} can't be opened: ${(cause as Error).message}. ` +
        'Unfinished runs do not need it: move the folder away, then type "cqbatch resume".',
      cause,
    );
  }
  return new ThreadSession(thread, folder);
}

class ThreadSession implements Session {
  readonly lost: Promise<Error>;
  readonly #thread: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: ((channel: string, payload: string) => void)[] = [];
  #lastId = 0;
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(thread: Worker, folder: string) {
    this.#thread = thread;
    thread.on('message', (reply: Reply) => this.#receive(reply));
    this.lost = new Promise((resolve) => {
      let cause: unknown;
      thread.on('error', (error) => {
        cause = error;
      });
      thread.on('exit', () => {
        const failure = fatalError(
          'DATASTORE_LOST',
          `The embedded datastore in ${folder} ended unexpectedly.`,
          cause,
        );
        this.#failure = failure;
        for (const { reject } of this.#waiting.values()) reject(failure);
        this.#waiting.clear();
        if (this.#closing === undefined) resolve(failure);
      });
    });
  }

  query(text: string, params: readonly unknown[] = []): Promise<StatementResult> {
    return this.#send({ id: 0, type: 'query', text, params });
  }

  onNotification(listener: (channel: string, payload: string) => void): void {
    this.#listeners.push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#failure !== undefined) return;
    const exited = once(this.#thread, 'exit');
    await this.#send({ id: 0, type: 'close' });
    await exited;
  }

  #send(request: Request): Promise<StatementResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#thread.postMessage({ ...request, id });
    });
  }

  #receive(reply: Reply): void {
    if (reply.type === 'opened') return;
    if (reply.type === 'notification') {
      for (const listener of this.#listeners) listener(reply.channel, reply.payload);
      return;
    }
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === 'result') waiting?.resolve(reply.result);
    else waiting?.reject(Object.assign(new Error(reply.error.message), reply.error));
  }
}
