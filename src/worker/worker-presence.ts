import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from '../queue/registry.ts';

/** What a worker says of itself. */
export interface WorkerFacts {
  /** Rows in flight. */
  readonly active: number;
  /** Rows that it has finished since it was started. */
  readonly finished: number;
}

export interface WorkerPresenceOptions {
  readonly registry: Registry;
  /** Version of the program. */
  readonly version: string;
  /** The API whose rows it calls, normalised. */
  readonly baseUrl: string;
  readonly concurrency: number;
  readonly facts: () => WorkerFacts;
  readonly onError: (error: Error) => void;
}

const beatMs = 1_000;

/** Shows a worker to everybody who sees the datastore, until `stop`. */
export function startWorkerPresence(options: WorkerPresenceOptions): { stop(): Promise<void> } {
  const { registry, version, baseUrl, concurrency } = options;
  const id = randomUUID();
  const startedAt = new Date().toISOString();
  let beating: Promise<void> | undefined;
  const beat = (): void => {
    beating ??= registry
      .putWorker({
        id,
        host: hostname(),
        pid: process.pid,
        version,
        baseUrl,
        concurrency,
        ...options.facts(),
        startedAt,
        seenAt: new Date().toISOString(),
      })
      .catch(options.onError)
      .finally(() => {
        beating = undefined;
      });
  };
  const timer = setInterval(beat, beatMs);
  timer.unref();
  beat();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
      await registry.removeWorker(id);
    },
  };
}
