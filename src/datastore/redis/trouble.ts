import type { RedisClient } from './client.ts';
import { type FailureContext, removeSecrets } from './failure.ts';

/** A refused command means trouble for this long, unless repeated. */
const refusalLastsMs = 10_000;

/**
 * After refusing writes for this long, Redis will not recover by itself: it retries a failed save every 5 s. Something writes
 * at least every two seconds, so a longer silence means success.
 */
const unwritableAfterMs = 10_000;
const sameSpellMs = 4_000;

/** Replies that refuse every write or command until someone acts or time passes. */
const refusals: Readonly<Record<string, string>> = {
  LOADING: 'is still loading its data',
  READONLY: 'is a read-only replica at the moment',
  MASTERDOWN: 'is a replica that has lost its primary',
  OOM: 'has no memory left',
  MISCONF: "can't write to its disk",
  NOREPLICAS: 'has lost its replicas and refuses to write',
  CLUSTERDOWN: 'is a Cluster that is not working',
};

/**
 * Describes why a connection does not work.
 *
 * @param onUnwritable called when a full or failing disk keeps Redis from writing for more than a moment
 */
export function connectionTrouble(
  { where, secrets }: Pick<FailureContext, 'where' | 'secrets'>,
  onUnwritable: (reply: Error) => void,
) {
  let away: string | undefined;
  let refusal: { readonly words: string; readonly until: number } | undefined;
  let unwritable: { readonly since: number; readonly at: number } | undefined;
  return {
    /** One sentence without a full stop; undefined when all is well. */
    get text(): string | undefined {
      if (away !== undefined) return `Redis at ${where} does not answer (${away})`;
      if (refusal === undefined || performance.now() > refusal.until) return undefined;
      return `Redis at ${where} ${refusal.words}`;
    },
    /** Watches the connection for losses and returns. */
    watch(client: RedisClient): void {
      const lost = (): void => {
        away ??= 'the connection was lost';
      };
      client.on('close', lost);
      client.on('reconnecting', lost);
      client.on('error', ({ message, code }: NodeJS.ErrnoException) => {
        away = code ?? removeSecrets(message.split('\n', 1)[0] ?? '', secrets);
      });
      client.on('connect', () => {
        away = 'it is starting';
      });
      client.on('ready', () => {
        away = undefined;
        refusal = undefined;
      });
    },
    /** Notes an error reply to a command. */
    noteReply(reply: Error): void {
      const code = /^-?([A-Z]+)/.exec(reply.message)?.[1] ?? '';
      const at = performance.now();
      const words = refusals[code];
      if (words !== undefined) refusal = { words, until: at + refusalLastsMs };
      if (code !== 'MISCONF') return;
      const before = unwritable ?? { since: at, at };
      const since = at - before.at > sameSpellMs ? at : before.since;
      unwritable = { since, at };
      if (at - since >= unwritableAfterMs) onUnwritable(reply);
    },
  };
}
