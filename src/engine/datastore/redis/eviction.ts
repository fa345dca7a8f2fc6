import type { Redis } from 'ioredis';
import { type RepeatedTask, repeat } from '../../../base/async/repeat.ts';
import { type CqbatchError, fatalError } from '../../../base/errors/errors.ts';
import { counted } from '../../../base/text/format.ts';
import { evictedKeys, evictionRemedy } from './info.ts';

const lookEveryMs = 5_000;

export interface EvictionOptions {
  /** The name of the Redis for messages, without a password. */
  readonly where: string;
  /** A user who may not run `INFO` learns nothing of evictions. */
  readonly mayAskInfo: boolean;
  /** The number of keys that Redis had evicted before this process connected. */
  readonly evictedBefore: number;
  readonly onEvicted: (reason: CqbatchError) => void;
}

/** Notices when Redis deletes keys to free memory, though its settings were fine at the start. */
export class EvictionWatch {
  readonly #client: Redis;
  readonly #options: EvictionOptions;
  #evicted = 0;
  readonly #checks: RepeatedTask;

  constructor(client: Redis, options: EvictionOptions) {
    this.#client = client;
    this.#options = options;
    this.#checks = repeat(() => this.#check(), { everyMs: lookEveryMs });
  }

  /** Why keys are missing. Undefined without evictions since the start. */
  async reason(): Promise<CqbatchError | undefined> {
    await this.#check();
    if (this.#evicted === 0) return undefined;
    return fatalError(
      'REDIS_EVICTION',
      `Redis at ${this.#options.where} has evicted ${counted(this.#evicted, 'key')} to free memory: ${evictionRemedy}`,
    );
  }

  close(): void {
    void this.#checks.stop();
  }

  async #check(): Promise<void> {
    if (!this.#options.mayAskInfo) return;
    const evicted = evictedKeys(await this.#client.info('stats')) - this.#options.evictedBefore;
    if (evicted <= this.#evicted) return;
    this.#evicted = evicted;
    const reason = await this.reason();
    if (reason !== undefined) this.#options.onEvicted(reason);
  }
}
