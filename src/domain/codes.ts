import {
  type CodeAdvice,
  type CodeFacts,
  type FailureClass,
  type FailureFacts,
  failures,
  lookFirst,
  mend,
  otherCodes,
  passing,
  permanent,
  unclear,
} from './code-table.ts';

const all: Readonly<Record<string, CodeFacts>> = { ...failures, ...otherCodes };

type KnownFailure = keyof typeof failures;

type StatusCode = `HTTP_${number}`;

export type FailureCode = KnownFailure | StatusCode;

export type RowCode = FailureCode | keyof typeof otherCodes;

export const failureCodes = Object.keys(failures) as readonly KnownFailure[];

export const rowCodes = Object.keys(all) as readonly Exclude<RowCode, StatusCode>[];

/** The canonical codes in the order of their numbers, from 1. */
export const canonicalCodes = failureCodes.slice(0, 16);

export function failureFacts(code: FailureCode): FailureFacts {
  return isKnownFailure(code) ? failures[code] : factsOfStatus(Number(code.slice('HTTP_'.length)));
}

function isKnownFailure(code: string): code is KnownFailure {
  return Object.hasOwn(failures, code);
}

/** Codes of this program that say what became of a row, and not why a call failed. */
export function isReservedCode(code: string): boolean {
  return Object.hasOwn(otherCodes, code);
}

/** The facts about a code. For a code of an operation, or of another version, they are general. */
export function codeFacts(code: string): CodeFacts {
  if (/^HTTP_\d{3}$/.test(code)) return failureFacts(code as StatusCode);
  if (Object.hasOwn(all, code)) return all[code] as CodeFacts;
  return permanent(
    'A code of the operation, or of another version of cqbatch.',
    `Read the message. ${lookFirst}`,
  );
}

export function adviceOn(code: string): CodeAdvice {
  const { meaning, remedy } = codeFacts(code);
  return { meaning, ...(remedy !== undefined && { remedy }) };
}

/** The facts about an HTTP status. A status without a code counts as the first of its class (RFC 9110, section 15). */
function factsOfStatus(status: number): FailureFacts {
  const meaning = `The API answered with HTTP status ${status}.`;
  if (status >= 400 && status < 500) return permanent(meaning);
  return unclear(status >= 500 && status < 600 ? passing(meaning) : permanent(meaning, lookFirst));
}

/** What a person does about a row that failed with a code: retry it, correct it first, or decide without a rule. */
export function stepAfter(code: string): 'retry' | 'correct' | 'decide' {
  if (codeFacts(code).remedy?.endsWith(mend)) return 'correct';
  return mayPassAgain(code) ? 'retry' : 'decide';
}

/** The service has changed another entry than the row asked for: one such answer shows that the next calls would do so, too. */
export function showsDamage(code: string): boolean {
  return code === 'ANSWER_ID_MISMATCH';
}

/** Whether a new call may succeed although no person has changed anything. */
export function mayPassAgain(code: string): boolean {
  const { class: failureClass, needsChange } = codeFacts(code);
  return failureClass !== undefined && !needsChange && !changeFirst.includes(failureClass);
}

const changeFirst: readonly FailureClass[] = ['permanent', 'halt', 'halt-early'];
