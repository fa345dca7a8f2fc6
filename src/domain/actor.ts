import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import { readVersion } from '../base/package.ts';

/** The longest reason, in characters. Longer reasons of other processes are cut. */
export const maxReasonLength = 500;
const maxNameLength = 100;

const cutTo = (length: number) => z.string().transform((text) => text.slice(0, length));

/** The author of an action, as the author's process states it. */
export const actorSchema = z.object({
  user: cutTo(maxNameLength),
  host: cutTo(maxNameLength),
  version: cutTo(maxNameLength).exactOptional(),
});

export type Actor = Readonly<z.infer<typeof actorSchema>>;

export const attributionSchema = z.object({
  by: actorSchema.exactOptional(),
  reason: cutTo(maxReasonLength).exactOptional(),
});

export type Attribution = Readonly<z.infer<typeof attributionSchema>>;

let self: Actor | undefined;

export function thisActor(): Actor {
  self ??= { user: userName(), host: hostname(), version: readVersion() };
  return self;
}

export function withActor(reason?: string): Attribution {
  return { by: thisActor(), ...(reason !== undefined && { reason }) };
}

/** In containers, a user without an account has no name but an id. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
