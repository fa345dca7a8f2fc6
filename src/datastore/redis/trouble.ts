import type { RedisClient } from './client.ts';
import { removeSecrets } from './failure.ts';

/** A refusal of a command is a sign of trouble for so long; the next one renews it. */
const refusalLastsMs = 10_000;

/**
 * A Redis that has refused to write for so long has no disk that will do by itself: after a save that failed it tries
 * again every 5 s. What writes to it does so at least every two seconds, so that a longer silence was a success.
 */
const unwritableAfterMs = 10_000;
const sameSpellMs = 4_000;

/** Replies that refuse every write, or every command, until somebody or time mends it. */
const refusals: Readonly<Record<string, string>> = {
  LOADING: 'is still loading its data',
  READONLY: 'is a replica at the moment, which can only be read',
  MASTERDOWN: 'is a replica that has lost its primary',
  OOM: 'has no memory left',
  MISCONF: "can't write to its disk",
  NOREPLICAS: 'has lost its replicas and refuses to write',
  CLUSTERDOWN: 'is a Cluster that is not working',
};

/** Knows in words what keeps a connection from working. */
export class ConnectionTrouble {
  readonly #where: string;
  readonly #secrets: readonly string[];
  #away: string | undefined;
  #refusal: { readonly words: string; readonly until: number } | undefined;
  #unwritable: { readonly since: number; readonly at: number } | undefined;

  readonly #onUnwritable: (reply: Error) => void;
  readonly #now: () => number;

  /**
   * @param onUnwritable is told when its disk keeps Redis from writing, and no longer for a moment only.
   * @param now monotonic milliseconds; for tests.
   */
  constructor(
    where: string,
    secrets: readonly string[],
    onUnwritable: (reply: Error) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#where = where;
    this.#secrets = secrets;
    this.#onUnwritable = onUnwritable;
    this.#now = now;
  }

  /** One sentence without a full stop; undefined when all is well. */
  get text(): string | undefined {
    if (this.#away !== undefined) return `Redis at ${this.#where} does not answer (${this.#away})`;
    if (this.#refusal === undefined || this.#now() > this.#refusal.until) return undefined;
    return `Redis at ${this.#where} ${this.#refusal.words}`;
  }

  /** Notices when the connection goes and comes. */
  watch(client: RedisClient): void {
    const lost = (): void => {
      this.#away ??= 'the connection was lost';
    };
    client.on('close', lost);
    client.on('reconnecting', lost);
    client.on('error', (error: Error) => {
      this.#away = this.#reason(error);
    });
    client.on('connect', () => {
      this.#away = 'it is starting';
    });
    client.on('ready', () => {
      this.#away = undefined;
      this.#refusal = undefined;
    });
  }

  /** Takes note of an error that Redis replied to some command. */
  noteReply(error: Error): void {
    const code = /^-?([A-Z]+)/.exec(error.message)?.[1] ?? '';
    const words = refusals[code];
    if (words !== undefined) this.#refusal = { words, until: this.#now() + refusalLastsMs };
    if (code === 'MISCONF') this.#noteUnwritable(error);
  }

  #noteUnwritable(reply: Error): void {
    const now = this.#now();
    const { since, at } = this.#unwritable ?? { since: now, at: now };
    this.#unwritable = { since: now - at > sameSpellMs ? now : since, at: now };
    if (now - this.#unwritable.since >= unwritableAfterMs) this.#onUnwritable(reply);
  }

  #reason(error: Error): string {
    const { code } = error as NodeJS.ErrnoException;
    return code ?? removeSecrets(error.message.split('\n', 1)[0] ?? '', this.#secrets);
  }
}
