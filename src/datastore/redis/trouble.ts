import type { RedisClient } from './client.ts';
import { type FailureContext, removeSecrets } from './failure.ts';

/** A refused command is a sign of trouble for that long; the next one renews it. */
const refusalLastsMs = 10_000;

/**
 * A Redis that has refused writes for that long will not recover by itself: after a save that failed it tries
 * again every 5 s. What writes to it does so at least every two seconds, so that a longer silence was a success.
 */
const unwritableAfterMs = 10_000;
const sameSpellMs = 4_000;

/** Replies that refuse every write, or every command, until a person or time fixes it. */
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
 * Knows in words what keeps a connection from working.
 *
 * @param onUnwritable is told when its disk keeps Redis from writing, and no longer for a moment only.
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
    /** Notices when the connection goes and comes. */
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
    /** Takes note of an error that Redis replied to some command. */
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
