import type { SingledOut } from '../../domain/terms.ts';

/** How many calls of other rows were accepted and refused. */
export interface OtherCalls {
  readonly accepted: number;
  readonly refused: number;
}

/** How many calls are kept. */
const keptCalls = 100;

/**
 * The latest calls of a worker by which it is known whether a refusal is about the row: the API accepts other rows, or refuses them, too.
 * Refusals of suspects do not count: otherwise rows that are always refused would excuse each other.
 */
export class LatestCalls {
  readonly #calls: { readonly at: number; readonly isAccepted: boolean }[] = [];

  /** @param at when the call began */
  add(at: Date, isAccepted: boolean): void {
    this.#calls.push({ at: at.getTime(), isAccepted });
    if (this.#calls.length > keptCalls) this.#calls.shift();
  }

  /** Calls that began after that time, ISO 8601; none if it is unknown. */
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
 * A row after another refusal. One that came while the API refused other rows as well says nothing about the row; nor does one before
 * any other row was accepted.
 */
export function singledOutAgain(
  before: SingledOut | undefined,
  { accepted, refused }: OtherCalls,
): SingledOut {
  if (before === undefined) return { refusals: 1, others: 0 };
  const others = before.others + accepted;
  if (others === 0 || accepted < acceptedPerRefused * refused) return before;
  return { refusals: before.refusals + 1, others };
}

/** Whether it is the row that is refused. */
export function isRefusedItself(row: SingledOut): boolean {
  return isAtLeast(row, enough);
}

/** Whether it may be the row that is refused: then its refusals must not slow down the others. */
export function isSuspect(row: SingledOut | undefined): boolean {
  return row !== undefined && isAtLeast(row, suspicious);
}

function isAtLeast({ refusals, others }: SingledOut, least: SingledOut): boolean {
  return refusals >= least.refusals && others >= least.others;
}
