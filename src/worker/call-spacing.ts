import { nearerToTurn } from './turns.ts';

/** A timer that is late by so much is made up for; after a longer rest nothing is. */
const lateMs = 10;
/** Timers are no more exact. */
const leastSpacingMs = 1.5;

/** How the calls of one worker are spread. */
export interface CallSpacing {
  /** Between the beginnings of two calls at least, milliseconds; 0 lets them go at once. */
  readonly spacingMs: number;
  /** When it was the turn of this worker among others, of the steady clock; absent: there are no turns. */
  readonly turnAt?: number | undefined;
}

/** When the call after one that goes out now may do so. @param dueAt when the one of now might have gone out at the soonest */
export function nextCallAt(dueAt: number, now: number, { spacingMs, turnAt }: CallSpacing): number {
  if (spacingMs < leastSpacingMs) return dueAt;
  const next = Math.max(dueAt, now - Math.min(spacingMs, lateMs)) + spacingMs;
  return turnAt === undefined ? next : nearerToTurn(next, turnAt, spacingMs);
}
