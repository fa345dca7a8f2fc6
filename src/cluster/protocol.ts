/**
 * What processes that share a Redis understand of each other. A program reads its own protocol and the one before, and writes the
 * one before while a process of it is present.
 *
 * 1. One queue for an API, in order of arrival.
 * 2. A queue for each priority, with turns.
 */
export const ownProtocol = 2;

/** The protocol that these processes have in common; entries of programs before protocol 2 do not name one. */
export function commonProtocol(entries: readonly { readonly protocol?: number }[]): number {
  return Math.min(ownProtocol, ...entries.map(({ protocol = 1 }) => protocol));
}
