import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import { readVersion } from '../base/package.ts';

/** Longest reason that is kept, in characters; longer ones of other processes are cut. */
export const maxReasonLength = 500;
const maxNameLength = 100;

const cutTo = (length: number) => z.string().transform((text) => text.slice(0, length));

/** The author of an action, as the process reported itself. */
export const actorSchema = z.object({
  /** Of the operating system. */
  user: cutTo(maxNameLength),
  host: cutTo(maxNameLength),
  /** Of the program. */
  version: cutTo(maxNameLength).exactOptional(),
});

export type Actor = Readonly<z.infer<typeof actorSchema>>;

/** The author of a wish, and the reason, as far as known. */
export const attributionSchema = z.object({
  by: actorSchema.exactOptional(),
  reason: cutTo(maxReasonLength).exactOptional(),
});

export type Attribution = Readonly<z.infer<typeof attributionSchema>>;

let self: Actor | undefined;

/** The author of what this process does. */
export function thisActor(): Actor {
  self ??= { user: userName(), host: hostname(), version: readVersion() };
  return self;
}

/** `ana on host7` */
export function actorText({ user, host }: Actor): string {
  return `${user} on ${host}`;
}

/** The author of what this process does, and the reason if the user gave one. */
export function withActor(reason?: string): Attribution {
  return { by: thisActor(), ...(reason !== undefined && { reason }) };
}

/** A user id without an account, as in containers, has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
