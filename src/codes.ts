import {
  type CodeAdvice,
  type CodeFacts,
  type FailureClass,
  failures,
  others,
  remedies,
} from './code-table.ts';

const all: Readonly<Record<string, CodeFacts>> = { ...failures, ...others };

type KnownFailure = keyof typeof failures;

/** A status that no canonical code stands for. */
type StatusCode = `HTTP_${number}`;

export type FailureCode = KnownFailure | StatusCode;

export type RowCode = FailureCode | keyof typeof others;

export const failureCodes = Object.keys(failures) as readonly KnownFailure[];

/** Codes of rows: why they ended as they did, or have not ended. */
export const rowCodes = Object.keys(all) as readonly Exclude<RowCode, StatusCode>[];

/** The canonical codes in the order of their numbers, from 1. */
export const canonicalCodes = failureCodes.slice(0, 16);

/** The class of a failure, where nothing else is known of it. */
export function classOf(code: KnownFailure): FailureClass {
  return failures[code].class;
}

/** What a code says; of one that another version knows, what is always true. */
export function codeFacts(code: string): CodeFacts {
  const status = /^HTTP_(\d{3})$/.exec(code)?.[1];
  if (status !== undefined) return factsOfStatus(Number(status));
  if (Object.hasOwn(all, code)) return all[code] as CodeFacts;
  return {
    meaning: 'This version of cqbatch does not know the code.',
    remedy: `Look at the message. ${remedies.lookFirst}`,
  };
}

/** What it says to people. */
export function adviceOn(code: string): CodeAdvice {
  const { meaning, remedy } = codeFacts(code);
  return { meaning, ...(remedy !== undefined && { remedy }) };
}

/** A status takes the meaning of its class (RFC 9110, section 15): 4xx that of 400, 5xx that of 500. */
function factsOfStatus(status: number): CodeFacts & { readonly class: FailureClass } {
  const meaning = `The service has answered with HTTP status ${status}.`;
  if (status >= 400 && status < 500) return { class: 'permanent', meaning, remedy: remedies.refused };
  if (status >= 500 && status < 600)
    return { class: 'retry', unclear: true, meaning, remedy: remedies.retry };
  return { class: 'permanent', unclear: true, meaning, remedy: remedies.lookFirst };
}

/** Whether the same call may succeed when it is made again, after one that has failed with this code. */
export function mayPassAgain(code: string): boolean {
  return codeFacts(code).class !== 'permanent';
}
