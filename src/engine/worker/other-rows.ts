import type { SingledOut } from '../../domain/terms.ts';

/** How many calls of other rows were accepted and refused. */
export interface OtherCalls {
  readonly accepted: number;
  readonly refused: number;
}

const keptCalls = 100;

/**
 * The latest calls of a worker. They show whether a refusal is about its row: the API accepts other rows, or refuses them, too. Refusals of
 * suspects do not count: otherwise rows that are always refused would excuse each other.
 */
export class LatestCalls {
  readonly #calls: { readonly at: number; readonly isAccepted: boolean }[] = [];

  /** @param at when the call began */
  add(at: Date, isAccepted: boolean): void {
    this.#calls.push({ at: at.getTime(), isAccepted });
    if (this.#calls.length > keptCalls) this.#calls.shift();
  }

  /** Calls that began after this time, ISO 8601; none if the time is unknown. */
  since(time: string | undefined): OtherCalls {
    if (time === undefined) return { accepted: 0, refused: 0 };
    const from = Date.parse(time);
    const calls = this.#calls.filter(({ at }) => at > from);
    const accepted = calls.filter(({ isAccepted }) => isAccepted).length;
    return { accepted, refused: calls.length - accepted };
  }
}

/** The API accepts other rows as long as at least three of four calls are accepted. */
const acceptedPerRefused = 3;
const enough = { refusals: 10, others: 20 } as const satisfies SingledOut;
const suspicious = { refusals: 2, others: 6 } as const satisfies SingledOut;

/**
 * The refusals of a row after another one. A refusal says nothing about the row while the API refuses other rows as well, or before any
 * other row was accepted.
 */
export function singledOutAgain(
  counted: SingledOut | undefined,
  { accepted, refused }: OtherCalls,
): SingledOut {
  if (counted === undefined) return { refusals: 1, others: 0 };
  const others = counted.others + accepted;
  if (others === 0 || accepted < acceptedPerRefused * refused) return counted;
  return { refusals: counted.refusals + 1, others };
}

/** Whether the refusals are about the row itself. */
export function isRefusedItself(row: SingledOut): boolean {
  return isAtLeast(row, enough);
}

/** Whether the refusals may be about the row itself: then they must not slow down other rows. */
export function isSuspect(row: SingledOut | undefined): boolean {
  return row !== undefined && isAtLeast(row, suspicious);
}

function isAtLeast({ refusals, others }: SingledOut, least: SingledOut): boolean {
  return refusals >= least.refusals && others >= least.others;
}
