import type { AttemptHistory, SingledOut } from '../../domain/terms.ts';
import type { ApiFailure } from '../api/failure.ts';

/** `failed`: the API could not be reached, or failed. */
export type CallOutcome = 'accepted' | 'refused' | 'failed';

export type OtherCalls = Readonly<Record<CallOutcome, number>>;

const keptCalls = 100;

/**
 * The latest calls of a worker, to compare a refused or failed row with other rows. Leave out refusals and failures of suspects, which
 * would excuse each other.
 */
export class LatestCalls {
  readonly #calls: { readonly at: number; readonly outcome: CallOutcome }[] = [];

  /** @param at when the call began */
  add(at: Date, outcome: CallOutcome): void {
    this.#calls.push({ at: at.getTime(), outcome });
    if (this.#calls.length > keptCalls) this.#calls.shift();
  }

  /** Calls that began after this time, ISO 8601; none if unknown. */
  since(time: string | undefined): OtherCalls {
    const counts = { accepted: 0, refused: 0, failed: 0 };
    if (time === undefined) return counts;
    const from = Date.parse(time);
    for (const { at, outcome } of this.#calls) if (at > from) counts[outcome] += 1;
    return counts;
  }
}

/** The API accepts other rows while at least three of four calls are accepted. */
const acceptedPerRefused = 3;
const enough = {
  refusals: { refusals: 10, others: 20 },
  failures: { refusals: 5, others: 5 },
} as const satisfies Record<string, SingledOut>;
const suspicious = { refusals: 2, others: 6 } as const satisfies SingledOut;

/** A refusal says nothing about the row while the API refuses others, too, or before any other was accepted. */
export function singledOutAgain(
  counted: SingledOut | undefined,
  { accepted, refused }: OtherCalls,
): SingledOut {
  return counted !== undefined && counted.others + accepted === 0
    ? counted
    : again(counted, accepted, refused);
}

/** A failure says nothing about the row while other rows fail as well. */
export function failedAgain(
  { failedAlone, lastCode, lastMessage = '' }: AttemptHistory,
  { code, message }: Pick<ApiFailure, 'code' | 'message'>,
  { accepted, failed }: OtherCalls,
): SingledOut {
  const isSame = code === lastCode && withoutNumbers(message) === withoutNumbers(lastMessage);
  return again(isSame ? failedAlone : undefined, accepted, failed);
}

/** Times and request ids differ in each answer. */
function withoutNumbers(message: string): string {
  return message.replaceAll(/\S*\d\S*/g, '#');
}

function again(counted: SingledOut | undefined, accepted: number, against: number): SingledOut {
  if (counted === undefined) return { refusals: 1, others: 0 };
  if (accepted < acceptedPerRefused * against) return counted;
  return { refusals: counted.refusals + 1, others: counted.others + accepted };
}

export function isRefusedItself(row: SingledOut): boolean {
  return isAtLeast(row, enough.refusals);
}

export function failsItself(row: SingledOut): boolean {
  return isAtLeast(row, enough.failures);
}

/** Refusals or failures of such a row must not slow down other rows, or count for them. */
export function isSuspect(row: SingledOut | undefined): boolean {
  return row !== undefined && isAtLeast(row, suspicious);
}

function isAtLeast({ refusals, others }: SingledOut, least: SingledOut): boolean {
  return refusals >= least.refusals && others >= least.others;
}
