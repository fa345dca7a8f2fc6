/**
 * What to do about a row whose call failed:
 *
 * - `retry`: try again later, several times.
 * - `unreachable`: there was no connection, so the request was not sent: wait and try again. Uses no attempt.
 * - `slow-down`: the API refuses calls for now: wait and try again. Uses no attempt.
 * - `permanent`: the same request will fail again.
 * - `halt`: every other request will fail, too: stop the run.
 * - `halt-early`: stop the run if nothing has succeeded yet (wrong base URL, wrong permissions); otherwise `permanent`.
 * - `aborted`: the caller's signal stopped the call, or the client was closed.
 */
export type FailureClass =
  | 'retry'
  | 'unreachable'
  | 'slow-down'
  | 'permanent'
  | 'halt'
  | 'halt-early'
  | 'aborted';

/** The meaning of a code and its remedy, for people. */
export interface CodeAdvice {
  readonly meaning: string;
  readonly remedy?: string;
}

/** Everything that a code says. */
export interface CodeFacts extends CodeAdvice {
  /** Of a failure. */
  readonly class?: FailureClass;
  /** Whether the service may have processed a request that it answers with this code. */
  readonly unclear?: true;
}

type FailureFacts = CodeFacts & { readonly class: FailureClass };

const again = 'Type "cqbatch retry". If these rows fail again, ask the operators of the service.';
const mend = 'Correct these rows in failed.csv, then run that file.';
const renew = 'Renew the access token, then type "cqbatch resume" or "cqbatch retry".';
const refused = 'Read the message. A retry would be refused again.';
const checkNetwork = 'Check the base URL and the network, then type "cqbatch retry".';
const checkProxy =
  'Check the proxy (HTTPS_PROXY, HTTP_PROXY), then type "cqbatch resume" or "cqbatch retry".';
const lookFirst =
  'Check the entries in the service before you repeat these rows. Show one of them to the operators of the service.';

const ofClass =
  (failureClass: FailureClass, usualRemedy: string) =>
  (meaning: string, remedy = usualRemedy): FailureFacts => ({ class: failureClass, meaning, remedy });

const retry = ofClass('retry', again);
const unreachable = ofClass('unreachable', checkNetwork);
const permanent = ofClass('permanent', refused);
const halt = ofClass('halt', renew);
const haltEarly = ofClass('halt-early', 'Check the base URL.');
const aborted = ofClass('aborted', again);
const unclear = (facts: FailureFacts): FailureFacts => ({ ...facts, unclear: true });

/**
 * Codes of failed calls. Those are unclear that a server or a gateway answers when it has lost the request. ABORTED means that the change
 * was rolled back, RESOURCE_EXHAUSTED that the call was refused before it started.
 */
const failures = {
  // The canonical codes, in the order of their numbers (`google/rpc/code.proto`).
  CANCELLED: unclear(
    retry(
      'The run was cancelled before this row was done, or the service aborted the call: the message says which.',
      'Type "cqbatch retry" to call these rows.',
    ),
  ),
  UNKNOWN: unclear(retry('The service failed without a reason.')),
  INVALID_ARGUMENT: permanent('The service does not accept a value of the row.', mend),
  DEADLINE_EXCEEDED: unclear(retry('The service, or a gateway in front of it, took too long.')),
  NOT_FOUND: permanent('The service does not know the identifier.', `Check the identifier. ${mend}`),
  ALREADY_EXISTS: permanent(
    'The entry exists already.',
    'Check the entry. If it is correct, there is nothing to do.',
  ),
  PERMISSION_DENIED: haltEarly(
    'The user of the access token lacks the permission.',
    'Ask for the permission, or use the token of another user.',
  ),
  RESOURCE_EXHAUSTED: retry(
    'The service refused too many calls.',
    'Type "cqbatch retry" with a lower --rate.',
  ),
  FAILED_PRECONDITION: permanent(
    'The service refuses the call in the present state of the entry, for example because it is not deleted.',
    'Read the message. A retry fails again until the entry changes.',
  ),
  ABORTED: retry('The service aborted the call because of a concurrent one.'),
  OUT_OF_RANGE: permanent('A value of the row is out of range.', mend),
  UNIMPLEMENTED: permanent('The service does not have this operation.', 'Check the base URL.'),
  INTERNAL: unclear(retry('The service failed while it processed the call.')),
  UNAVAILABLE: unclear(retry('The service was unavailable.')),
  DATA_LOSS: unclear(permanent('The service reports lost data.', lookFirst)),
  UNAUTHENTICATED: halt('The access token is invalid or has expired.'),
  // Of HTTP statuses without one.
  REQUEST_TIMEOUT: retry('The service did not receive the whole request in time.'),
  CONFLICT: permanent(
    'Another user changed the entry at the same time.',
    'Check the entry, then run the row again.',
  ),
  TOO_EARLY: retry('The service refused the call because it came too early.'),
  BAD_GATEWAY: unclear(retry('A gateway in front of the service got no usable answer from it.')),
  HTTP_REDIRECT: haltEarly(
    'The service redirects to another address, and cqbatch does not follow redirects.',
  ),
  // Of invalid answers.
  ANSWER_NOT_JSON: retry(
    'The answer is not from the service, but for example from a login page or a proxy.',
    'Open the base URL in a browser and look at the answer.',
  ),
  ANSWER_TOO_LARGE: retry('The answer is larger than cqbatch accepts.'),
  ANSWER_ENCODING_UNKNOWN: retry('The service reported success in an answer with an unknown compression.'),
  ANSWER_ENCODING_BROKEN: retry("The service reported success in an answer that can't be decompressed."),
  ANSWER_INCOMPLETE: permanent(
    'The service reported success without naming the entry: it may have made the change.',
    lookFirst,
  ),
  ANSWER_ID_MISMATCH: permanent(
    'The service reported success for another entry, which it may have changed.',
    `The message names both entries. ${lookFirst}`,
  ),
  ANSWER_STILL_DELETED: permanent(
    'The service reported success, but the evaluation in its answer is still deleted. It may or may not be restored.',
    lookFirst,
  ),
  ANSWER_NOT_HTTP: retry(
    'The answer is not HTTP.',
    'Check the base URL, and any proxy in front of the service.',
  ),
  ANSWER_INFORMATIONAL: retry(
    'The service, or a proxy in front of it, sent an informational answer, and the real answer was lost.',
    'The message says what to change there. Then type "cqbatch retry".',
  ),
  ANSWER_CUT_OFF: retry('The connection broke in the middle of the answer.'),
  // Of the connection.
  CONNECTION_LOST: retry('The connection broke before the answer.'),
  HEADERS_TIMEOUT: retry('No answer arrived in time.'),
  BODY_TIMEOUT: retry('The rest of the answer did not arrive in time.'),
  TOTAL_TIMEOUT: retry(
    'The complete answer did not arrive in time.',
    `${again} --timeout sets a longer time.`,
  ),
  CONNECTION_REFUSED: unreachable('The host of the service accepted no connection.'),
  HOST_NOT_FOUND: unreachable('The host of the base URL has no address.'),
  CONNECT_TIMEOUT: unreachable('The host of the service accepted no connection in time.'),
  CONNECT_FAILED: unreachable('No connection to the service could be made.'),
  TLS_ERROR: unreachable(
    'The certificate of the service is not trusted, or the service does not use TLS.',
    'Check the base URL. For a private CA, set NODE_EXTRA_CA_CERTS.',
  ),
  PROXY_UNREACHABLE: unreachable('The proxy could not be reached.', checkProxy),
  PROXY_BAD_GATEWAY: unreachable('The proxy got no connection to the service.', checkProxy),
  PROXY_AUTHENTICATION: halt('The proxy refused the user name and password.', checkProxy),
  PROXY_REFUSED: halt('The proxy refused the connection to the service.', checkProxy),
  // Of this side.
  TOKEN_UNREADABLE: halt('The access token could not be read.'),
  TOKEN_EMPTY: halt('The access token was empty.'),
  TOKEN_MALFORMED: halt('The access token has characters that no token can have.'),
  INTERRUPTED: aborted('The run was stopped before this row was done.', 'Type "cqbatch resume".'),
  CLIENT_CLOSED: aborted('The call was stopped before it was sent.'),
} satisfies Record<string, FailureFacts>;

/** Codes of rows without a failed call. */
const others = {
  OK: { meaning: 'The service made the change.' },
  ALREADY_APPLIED: {
    meaning:
      'The service says that the change is already made, most likely by an earlier attempt whose answer was lost.',
  },
  INVALID_ROW: { meaning: 'The row is invalid, so it was not sent.', remedy: mend },
  DUPLICATE: { meaning: 'Identical to an earlier row, which was called instead.' },
  DONE_BEFORE: { meaning: 'An earlier run did this row, so this run skipped it.' },
  SUPERSEDED: { meaning: 'A later row changes the same entry and was called instead.' },
  NOT_REPEATED: permanent(
    'An earlier attempt may have made the change, and the operation must not be repeated.',
    lookFirst,
  ),
  PENDING: { meaning: 'The run has not reached this row yet.' },
  HALTED: {
    meaning: 'The run halted before this row was done.',
    remedy: 'Remove the cause of the halt, then type "cqbatch resume".',
  },
} satisfies Record<string, CodeFacts>;

const all: Readonly<Record<string, CodeFacts>> = { ...failures, ...others };

type KnownFailure = keyof typeof failures;

/** A status without a canonical code. */
type StatusCode = `HTTP_${number}`;

export type FailureCode = KnownFailure | StatusCode;

export type RowCode = FailureCode | keyof typeof others;

export const failureCodes = Object.keys(failures) as readonly KnownFailure[];

/** Codes of rows: why they ended, or why they have not. */
export const rowCodes = Object.keys(all) as readonly Exclude<RowCode, StatusCode>[];

/** The canonical codes in the order of their numbers, from 1. */
export const canonicalCodes = failureCodes.slice(0, 16);

/** The facts about a failure. */
export function failureFacts(code: FailureCode): FailureFacts {
  return isKnownFailure(code) ? failures[code] : factsOfStatus(Number(code.slice('HTTP_'.length)));
}

function isKnownFailure(code: string): code is KnownFailure {
  return Object.hasOwn(failures, code);
}

/** The facts of a code; for a code of another version, what is true of every code. */
export function codeFacts(code: string): CodeFacts {
  if (/^HTTP_\d{3}$/.test(code)) return failureFacts(code as StatusCode);
  if (Object.hasOwn(all, code)) return all[code] as CodeFacts;
  return {
    meaning: 'This version of cqbatch does not know the code.',
    remedy: `Read the message. ${lookFirst}`,
  };
}

/** The facts for people. */
export function adviceOn(code: string): CodeAdvice {
  const { meaning, remedy } = codeFacts(code);
  return { meaning, ...(remedy !== undefined && { remedy }) };
}

/** A status means what its class means (RFC 9110, section 15): 4xx as 400, 5xx as 500. */
function factsOfStatus(status: number): FailureFacts {
  const meaning = `The service answered with HTTP status ${status}.`;
  if (status >= 400 && status < 500) return permanent(meaning);
  return unclear(status >= 500 && status < 600 ? retry(meaning) : permanent(meaning, lookFirst));
}

/** Whether a retry may succeed after a call that failed with this code. */
export function mayPassAgain(code: string): boolean {
  return codeFacts(code).class !== 'permanent';
}
