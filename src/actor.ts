import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import { readVersion } from './package.ts';

/** Longest reason that is kept, in characters; what others have written is cut there. */
export const maxReasonLength = 500;
const maxNameLength = 100;

const cutTo = (length: number) => z.string().transform((text) => text.slice(0, length));

/** Who did something: everything in it is what that process said of itself. */
export const actorSchema = z.object({
  /** Of the operating system. */
  user: cutTo(maxNameLength),
  host: cutTo(maxNameLength),
  /** Of the program. */
  version: cutTo(maxNameLength).exactOptional(),
});

export type Actor = Readonly<z.infer<typeof actorSchema>>;

/** Who wanted something, and why, as far as is known. */
export const attributionSchema = z.object({
  by: actorSchema.exactOptional(),
  reason: cutTo(maxReasonLength).exactOptional(),
});

export type Attribution = Readonly<z.infer<typeof attributionSchema>>;

let self: Actor | undefined;

/** Who runs this process. */
export function thisActor(): Actor {
  self ??= { user: userName(), host: hostname(), version: readVersion() };
  return self;
}

/** What this process does, and why, if its user says so. */
export function attributed(reason?: string): Attribution {
  return { by: thisActor(), ...(reason !== undefined && { reason }) };
}

/** A user id without an account, as containers have them, has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
