import type { AttemptHistory, SingledOut } from '../../domain/row-result.ts';
import type { ApiFailure } from '../api/failure.ts';

/** How a call ended. `failed`: the API could not be reached, or failed. */
export type CallOutcome = 'accepted' | 'refused' | 'failed';

export interface OtherCalls extends Readonly<Record<CallOutcome, number>> {
  /** Other rows accepted since the row's first call. Present when only refused rows are left. */
  readonly acceptedInAll?: number | undefined;
}

const keptCalls = 100;

/**
 * The latest calls of a worker, to compare a refused or failed row with other rows. Leave out refusals and failures of suspects, which
 * would excuse each other.
 */
export class LatestCalls {
  readonly #calls: { readonly at: number; readonly outcome: CallOutcome; readonly wasRefused: boolean }[] =
    [];

  /** The share of accepted rows that had been refused before, from 0 to 1. */
  get shareOfOnceRefusedRows(): number {
    const accepted = this.#calls.filter(({ outcome }) => outcome === 'accepted');
    return accepted.filter(({ wasRefused }) => wasRefused).length / Math.max(1, accepted.length);
  }

  /**
   * @param at when the call began
   * @param wasRefused whether an earlier call of the row was refused
   */
  add(at: Date, outcome: CallOutcome, wasRefused = false): void {
    this.#calls.push({ at: at.getTime(), outcome, wasRefused });
    if (this.#calls.length > keptCalls) this.#calls.shift();
  }

  /** Counts the calls that began after this time, ISO 8601; none if the time is unknown. */
  callsSince(time: string | undefined): Readonly<Record<CallOutcome, number>> {
    const counts = { accepted: 0, refused: 0, failed: 0 };
    if (time === undefined) return counts;
    const from = Date.parse(time);
    for (const { at, outcome } of this.#calls) if (at > from) counts[outcome] += 1;
    return counts;
  }
}

/** The API accepts other rows while at least three of four calls are accepted. */
const acceptedPerRefused = 3;
export const certainFault = {
  refusals: { refusals: 10, others: 20 },
  failures: { refusals: 5, others: 5 },
} as const satisfies Record<string, SingledOut>;
const suspectedFault = { refusals: 2, others: 6 } as const satisfies SingledOut;

/**
 * A refusal says nothing about the row while the API refuses others, too, or before any other was accepted. When only refused rows are left,
 * no other can be accepted any more: those accepted since the row's first call must do.
 */
export function countRefusal(
  counted: SingledOut | undefined,
  { accepted, refused, acceptedInAll }: OtherCalls,
): SingledOut {
  if (acceptedInAll !== undefined) {
    const { refusals, others } = counted ?? { refusals: 0, others: 0 };
    return { refusals: refusals + 1, others: Math.max(others, acceptedInAll) };
  }
  return counted !== undefined && counted.others + accepted === 0
    ? counted
    : countAgain(counted, accepted, refused);
}

/** A failure says nothing about the row while other rows fail as well. */
export function countFailure(
  { failedAlone, lastCode, lastMessage = '' }: AttemptHistory,
  { code, message }: Pick<ApiFailure, 'code' | 'message'>,
  { accepted, failed }: OtherCalls,
): SingledOut {
  const isSame = code === lastCode && withoutNumbers(message) === withoutNumbers(lastMessage);
  return countAgain(isSame ? failedAlone : undefined, accepted, failed);
}

/** Replaces words with digits: times and request ids differ in each answer. */
export function withoutNumbers(message: string): string {
  return message.replaceAll(/\S*\d\S*/g, '#');
}

function countAgain(counted: SingledOut | undefined, accepted: number, against: number): SingledOut {
  if (counted === undefined) return { refusals: 1, others: 0 };
  if (accepted < acceptedPerRefused * against) return counted;
  return { refusals: counted.refusals + 1, others: counted.others + accepted };
}

export function areRefusalsOfRow(row: SingledOut, { acceptedInAll }: OtherCalls): boolean {
  const others = acceptedInAll === undefined ? certainFault.refusals.others : suspectedFault.others;
  return isAtLeast(row, { ...certainFault.refusals, others });
}

const leastWaitMs = 1_000;
const longestWaitMs = 8_000;

/** The wait of a row that is refused alone, without a stated time. When only such rows are left, a limit of a minute may end meanwhile. */
export function waitAloneMs({ refusals }: SingledOut, { acceptedInAll }: OtherCalls): number {
  const doublings = acceptedInAll === undefined ? 0 : Math.max(0, refusals - suspectedFault.refusals);
  return Math.min(leastWaitMs * 2 ** doublings, longestWaitMs);
}

export const mostRefusalsAlone = certainFault.refusals.refusals;
export const fewestAcceptedOthers = suspectedFault.others;

export function areFailuresOfRow(row: SingledOut): boolean {
  return isAtLeast(row, certainFault.failures);
}

/** Whether the row itself may be the cause: its refusals or failures must not slow down other rows, or count for them. */
export function isSuspect(row: SingledOut | undefined): boolean {
  return row !== undefined && isAtLeast(row, suspectedFault);
}

function isAtLeast({ refusals, others }: SingledOut, least: SingledOut): boolean {
  return refusals >= least.refusals && others >= least.others;
}
