import type { Redis } from 'ioredis';
import { steadyNow } from '../../../base/async/clock.ts';
import type { CqbatchError } from '../../../base/errors/errors.ts';
import type { LastingRefusal } from '../datastore.ts';
import { explainFailure, type FailureContext, removeSecrets } from './failure.ts';

/** A refusal not repeated for this long is over: each program that waits tries again sooner. */
const refusalLastsMs = 6_000;

/** After this long, a full or failing disk will not recover by itself: Redis retries a failed save every 5 s. */
const unwritableAfterMs = 10_000;
/** Refused writes within this time are one outage. Something writes at least every two seconds, so a longer silence means success. */
const sameOutageMs = 4_000;

/** BullMQ's driver sends a command with one of these errors again in another way. */
const ordinary = /^(NOSCRIPT|EXECABORT)\b/;
/** Commands that the program can do without. */
const optional = ['info', 'client'];
/** Refusals that only a person can end. */
const lasting = [
  'REDIS_AUTH',
  'PASSWORD_UNREADABLE',
  'REDIS_PERMISSION',
  'REDIS_REPLICA',
  'REDIS_CLUSTER',
  'REDIS_FULL',
  'REDIS_READ_ONLY',
];

/** Why Redis can't be used now. */
export class RedisTrouble {
  readonly #context: FailureContext;
  readonly #onLogin: () => Promise<void>;
  readonly #onUnwritable: (reason: CqbatchError) => void;
  /** Why each connection fails. */
  readonly #down = new Map<Redis, string>();
  #lastRefusal: { readonly reason: CqbatchError; readonly since: number; readonly at: number } | undefined;
  #unwritable: { readonly since: number; readonly at: number } | undefined;

  /**
   * @param onLogin Redis refuses the login; may reject with a better reason
   * @param onUnwritable a full or failing disk keeps Redis from writing for more than a moment
   */
  constructor(
    context: FailureContext,
    onLogin: () => Promise<void>,
    onUnwritable: (reason: CqbatchError) => void,
  ) {
    this.#context = context;
    this.#onLogin = onLogin;
    this.#onUnwritable = onUnwritable;
  }

  get text(): string | undefined {
    const refused = this.#refusedNow;
    if (refused !== undefined) return refused.reason.message.replace(/\.$/, '');
    const [down] = this.#down.values();
    return down && `Redis at ${this.#context.where} does not answer (${down})`;
  }

  get refusal(): LastingRefusal | undefined {
    const refused = this.#refusedNow;
    if (refused === undefined || !lasting.includes(refused.reason.code)) return undefined;
    return { reason: refused.reason, forMs: steadyNow() - refused.since };
  }

  watch(client: Redis): void {
    const lost = (): void => {
      if (!this.#down.has(client)) this.#down.set(client, 'the connection was lost');
    };
    client.on('close', lost);
    client.on('reconnecting', lost);
    client.on('error', (error: NodeJS.ErrnoException) => {
      const { code, message } = error;
      this.#down.set(client, code ?? removeSecrets(message.split('\n', 1)[0] ?? '', this.#context.secrets));
      // A Redis that is away refuses nothing.
      if (!this.noteError(error)) this.#lastRefusal = undefined;
    });
    client.on('connect', () => this.#down.set(client, 'it is starting'));
    client.on('ready', () => this.#down.delete(client));
  }

  /** Sets the explanation for users as its `cause`. */
  noteReply(reply: Error & { readonly command?: { readonly name: string } }): void {
    if (ordinary.test(reply.message) || optional.includes(reply.command?.name ?? '')) return;
    this.noteError(reply);
    if (/^-?MISCONF\b/.test(reply.message)) this.#noteUnwritable(reply);
  }

  /** @returns whether Redis has refused something for a known reason */
  noteError(error: Error): boolean {
    const reason = explainFailure([error], this.#context);
    if (reason.code === 'REDIS_UNREACHABLE') return false;
    error.cause ??= reason;
    this.#refuse(reason);
    if (reason.code === 'REDIS_AUTH') this.#onLogin().catch((better: CqbatchError) => this.#refuse(better));
    return true;
  }

  #refuse(reason: CqbatchError): void {
    const now = steadyNow();
    this.#lastRefusal = { reason, since: this.#refusedNow?.since ?? now, at: now };
  }

  get #refusedNow() {
    const isOver = this.#down.size === 0 && steadyNow() - (this.#lastRefusal?.at ?? 0) > refusalLastsMs;
    return isOver ? undefined : this.#lastRefusal;
  }

  #noteUnwritable(reply: Error): void {
    const at = steadyNow();
    const last = this.#unwritable ?? { since: at, at };
    const since = at - last.at > sameOutageMs ? at : last.since;
    this.#unwritable = { since, at };
    if (at - since >= unwritableAfterMs) this.#onUnwritable(explainFailure([reply], this.#context));
  }
}
