import { CqbatchError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Pace } from '../pace.ts';
import { repeat } from '../repeat.ts';
import { deferred, onAbort } from '../waiting.ts';
import type { Serving } from './serve.ts';

/** A rate group; undefined: all callers without a group. */
export type GroupName = string | undefined;

export interface ServeGroupsOptions {
  /** The groups to serve now, each with a text that changes with its token. */
  readonly look: () => Promise<ReadonlyMap<GroupName, string>>;
  /** Serves a group until it is stopped. Rejects when its token can't be read. */
  readonly serve: (group: GroupName, stop: AbortSignal) => Promise<Serving>;
  readonly log: Log;
  /** Aborts when the worker must stop. */
  readonly stop: AbortSignal;
}

interface Group {
  readonly token: string;
  readonly leave: AbortController;
  /** Undefined while it starts, and once it has ended. */
  serving?: Serving;
  /** Why it can't continue. */
  failure?: Error;
}

/** A worker that serves rate groups. */
export type GroupsServing = Awaited<ReturnType<typeof serveGroups>>;

export const lookMs = 10_000;
/** What only another token changes. A group with another failure is tried again at the next look. */
const needsOtherToken = ['API_REFUSES', 'TOKEN_UNREADABLE', 'TOKEN_EMPTY', 'TOKEN_MALFORMED'];

/**
 * Serves each rate group whose token there is. A group:
 *
 * ```
 * serving ──(its token is gone)──▶ leaving
 *    │  ▲
 *    │  └──(its token has changed, or the failure may have passed)──┐
 *    └──(it can't continue)──▶ failed ──────────────────────────────┘
 * ```
 *
 * No group stops another one. The worker ends when all groups have failed, for the last reason.
 *
 * @throws the error of the first look
 */
export async function serveGroups({ look, serve, log, stop }: ServeGroupsOptions) {
  const groups = new Map<GroupName, Group>();
  const endings = new Set<Promise<void>>();
  const over = deferred<Error | undefined>();
  let ending = false;
  let unreadable: string | undefined;

  /** Resolves when the group has ended. */
  async function begin(name: GroupName, token: string): Promise<void> {
    const group: Group = { token, leave: new AbortController() };
    groups.set(name, group);
    if (name !== undefined) log.info({ rate_group: name }, 'serving a rate group');
    const failure = await serve(name, group.leave.signal)
      .then((serving) => {
        group.serving = serving;
        return serving.end;
      })
      .catch((error: Error) => error);
    delete group.serving;
    if (failure === undefined || group.leave.signal.aborted) groups.delete(name);
    else group.failure = failure;
    const failures = [...groups.values()].map((each) => each.failure);
    if (failures.length > 0 && !failures.includes(undefined)) endBecause(failure ?? failures[0]);
    else if (group.failure !== undefined)
      log.error({ rate_group: name, err: group.failure.message }, 'a rate group is no longer served');
  }

  async function update(): Promise<void> {
    const wanted = await look();
    for (const [name, { leave, failure }] of groups) {
      if (wanted.has(name) || leave.signal.aborted) continue;
      log.info({ rate_group: name }, 'the token of a rate group is gone');
      leave.abort();
      if (failure !== undefined) groups.delete(name);
    }
    for (const [name, token] of ending ? [] : wanted) {
      const group = groups.get(name);
      if (group !== undefined && !mayContinue(group, token)) continue;
      const ended = begin(name, token).finally(() => endings.delete(ended));
      endings.add(ended);
    }
  }

  /** The first reason counts. */
  function endBecause(reason?: Error): void {
    ending = true;
    for (const { leave } of groups.values()) leave.abort();
    over.resolve(reason);
  }

  async function untilEnd(): Promise<Error | undefined> {
    const reason = await over.promise;
    await looks.stop();
    await Promise.all(endings);
    return reason;
  }

  function now(): readonly (readonly [GroupName, Serving])[] {
    return [...groups].flatMap(([name, { serving }]) =>
      serving === undefined ? [] : [[name, serving] as const],
    );
  }

  await update();
  const looks = repeat(
    async () => {
      await update();
      unreadable = undefined;
    },
    {
      everyMs: lookMs,
      onError({ message }) {
        if (message !== unreadable) log.error({ err: message }, 'cannot read the tokens');
        unreadable = message;
      },
    },
  );
  onAbort(stop, () => endBecause());
  return {
    /** Calls in flight. */
    get active(): number {
      return now().reduce((sum, [, { active }]) => sum + active, 0);
    },
    /** How the API is called for each group, where known. */
    get paces(): readonly (readonly [GroupName, Pace])[] {
      return now().flatMap(([name, { pace }]) => (pace === undefined ? [] : [[name, pace] as const]));
    },
    /** Why it takes no rows, if it takes none. */
    get idleBecause(): string | undefined {
      if (ending) return 'stopping';
      if (groups.size === 0) return 'there is no token of a rate group';
      const reasons = now().map(([, { idleBecause }]) => idleBecause);
      return reasons.includes(undefined) ? undefined : reasons[0];
    },
    /** Resolves with undefined after a stop, or with the reason that the worker can't continue. */
    end: untilEnd(),
  };
}

function mayContinue({ token, failure }: Group, now: string): boolean {
  if (failure === undefined) return false;
  return now !== token || !(failure instanceof CqbatchError && needsOtherToken.includes(failure.code));
}
