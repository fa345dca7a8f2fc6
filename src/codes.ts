/**
 * What to do about a row whose call has failed:
 *
 * - `retry`: try again later, several times.
 * - `unreachable`: the request was not sent, because no connection came about: wait and try again. Costs no attempt.
 * - `slow-down`: the API refuses calls for now; wait and try again. Costs no attempt.
 * - `permanent`: the same request will fail again.
 * - `halt`: every other request will fail too; stop the run.
 * - `halt-early`: stop the run when nothing has succeeded yet (wrong base URL, wrong permissions); otherwise `permanent`.
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

/** What a code means and what can be done about it, for people. */
export interface CodeAdvice {
  readonly meaning: string;
  readonly remedy?: string;
}

/** All that a code says. */
export interface CodeFacts extends CodeAdvice {
  /** Of a failure. */
  readonly class?: FailureClass;
  /** Whether the service may have processed a request that it answers with this code. */
  readonly unclear?: true;
}

type FailureFacts = CodeFacts & { readonly class: FailureClass };

const again = 'Run "cqbatch retry" for these rows; if it happens again, ask those who run the service.';
const mend = 'Mend these rows in failed.csv, and feed that file back.';
const renew = 'Renew the access token, then go on with "cqbatch resume" or "cqbatch retry".';
const refused = 'Look at the message. The same call would be refused again.';
const checkNetwork = 'Check the base URL and the network, then run "cqbatch retry" for these rows.';
const checkProxy =
  'Check the proxy (HTTPS_PROXY, HTTP_PROXY), then go on with "cqbatch resume" or "cqbatch retry".';
const lookFirst =
  'Do not repeat these rows before you have looked at the entries in the service. Show one of them to those who run the service.';

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
 * Codes of calls that fail. Unclear are those that a server or a gateway gives when it lost sight of the request. ABORTED says that the
 * change was rolled back, RESOURCE_EXHAUSTED that it was refused before it began.
 */
const failures = {
  // The canonical ones, in the order of their numbers (`google/rpc/code.proto`).
  CANCELLED: unclear(
    retry(
      'The run was cancelled before it was done, or the service gave the call up: the message says which.',
      '"cqbatch retry" takes these rows, too.',
    ),
  ),
  UNKNOWN: unclear(retry('The service has failed, and does not say why.')),
  INVALID_ARGUMENT: permanent('The service does not accept a value of the row.', mend),
  DEADLINE_EXCEEDED: unclear(retry('The service, or a gateway before it, took too long.')),
  NOT_FOUND: permanent('The service knows nothing of that identifier.', `See that it is right. ${mend}`),
  ALREADY_EXISTS: permanent(
    'What the row would make is there already.',
    'Nothing, if it is as it should be.',
  ),
  PERMISSION_DENIED: haltEarly(
    'The user of the access token may not do this.',
    'Have the right given to that user, or use the token of another one.',
  ),
  RESOURCE_EXHAUSTED: retry('The service refused too many calls.', 'Retry with a lower --rate.'),
  FAILED_PRECONDITION: permanent(
    'The service refuses it in the state in which the entry is, for instance because it is not deleted.',
    'Look at the message. Trying again changes nothing as long as the entry is as it is.',
  ),
  ABORTED: retry('The service gave the call up because of another one.'),
  OUT_OF_RANGE: permanent('A value of the row is out of range.', mend),
  UNIMPLEMENTED: permanent('The service does not have this operation.', 'Check the base URL.'),
  INTERNAL: unclear(retry('The service has failed at it.')),
  UNAVAILABLE: unclear(retry('The service could not be used.')),
  DATA_LOSS: unclear(permanent('The service says that data are lost.', lookFirst)),
  UNAUTHENTICATED: halt('The access token is not valid, or not any more.'),
  // Of HTTP statuses without one.
  REQUEST_TIMEOUT: retry('The service did not get the whole request in time.'),
  CONFLICT: permanent(
    'Another user has changed the entry at the same time.',
    'Look at the entry, then feed the row back.',
  ),
  TOO_EARLY: retry('The service refused the call because it came too early.'),
  BAD_GATEWAY: unclear(retry('A gateway before the service got no usable answer from it.')),
  HTTP_REDIRECT: haltEarly('The service sends callers to another address, and cqbatch does not follow.'),
  // Of answers that are not as they should be.
  ANSWER_NOT_JSON: retry(
    'Something else than the service has answered, such as a login page or a proxy.',
    'Open the base URL in a browser to see what answers there.',
  ),
  ANSWER_TOO_LARGE: retry('The answer is larger than cqbatch accepts.'),
  ANSWER_ENCODING_UNKNOWN: retry(
    'The service reported success in an answer that is compressed in an unknown way.',
  ),
  ANSWER_ENCODING_BROKEN: retry('The service reported success in an answer that cannot be decompressed.'),
  ANSWER_INCOMPLETE: permanent(
    'The service reported success, but does not say for which entry: it may have made the change.',
    lookFirst,
  ),
  ANSWER_ID_MISMATCH: permanent(
    'The service reported success, but for another entry: it may have changed that one.',
    `The message names both entries. ${lookFirst}`,
  ),
  ANSWER_STILL_DELETED: permanent(
    'The service reported success, but the evaluation in its answer is still deleted: it may be restored or not.',
    lookFirst,
  ),
  ANSWER_NOT_HTTP: retry(
    'What answered does not speak HTTP.',
    'Check the base URL and what stands before the service.',
  ),
  ANSWER_INFORMATIONAL: retry(
    'The service, or a proxy before it, sent an answer before the answer, and the real one is lost.',
    'The message says what to change there. Then run "cqbatch retry" for these rows.',
  ),
  ANSWER_CUT_OFF: retry('The connection broke in the middle of the answer.'),
  // Of the way to the API.
  CONNECTION_LOST: retry('The connection broke before the answer.'),
  HEADERS_TIMEOUT: retry('No answer came in time.'),
  BODY_TIMEOUT: retry('The rest of an answer did not come in time.'),
  TOTAL_TIMEOUT: retry('No whole answer came in time.', `${again} --timeout gives it longer.`),
  CONNECTION_REFUSED: unreachable('The host of the service accepted no connection.'),
  HOST_NOT_FOUND: unreachable('The host of the base URL has no address.'),
  CONNECT_TIMEOUT: unreachable('The host of the service accepted no connection in time.'),
  CONNECT_FAILED: unreachable('No connection to the service came about.'),
  TLS_ERROR: unreachable(
    'The certificate of the service is not trusted, or the service speaks no TLS.',
    'Check the base URL. For a private authority, set NODE_EXTRA_CA_CERTS.',
  ),
  PROXY_UNREACHABLE: unreachable('The proxy could not be reached.', checkProxy),
  PROXY_BAD_GATEWAY: unreachable('The proxy got no connection to the service.', checkProxy),
  PROXY_AUTHENTICATION: halt('The proxy wants another user name and password.', checkProxy),
  PROXY_REFUSED: halt('The proxy does not let connections to the service through.', checkProxy),
  // Of this side.
  TOKEN_UNREADABLE: halt('The access token could not be read.'),
  TOKEN_EMPTY: halt('The access token was empty.'),
  TOKEN_MALFORMED: halt('What was given as the access token cannot be one.'),
  INTERRUPTED: aborted('The run was stopped before it was done.', 'Go on with "cqbatch resume".'),
  CLIENT_CLOSED: aborted('The call was given up before it was sent.'),
} satisfies Record<string, FailureFacts>;

/** Codes of rows that did not fail by a call. */
const others = {
  OK: { meaning: 'The service has done it.' },
  ALREADY_APPLIED: {
    meaning:
      'The service says that it is done already. An earlier attempt whose answer was lost has most likely done it.',
  },
  INVALID_ROW: { meaning: 'The row was not sent, because something in it is wrong.', remedy: mend },
  DUPLICATE: { meaning: 'The same as an earlier row, which was called instead.' },
  DONE_BEFORE: { meaning: 'An earlier run has done it, so it was left out.' },
  SUPERSEDED: { meaning: 'A later row changes the same entry and was called instead.' },
  NOT_REPEATED: permanent(
    'An earlier attempt may have made the change, and this operation must not be repeated.',
    lookFirst,
  ),
  PENDING: { meaning: 'The run has not come to it yet.' },
  HALTED: {
    meaning: 'The run has stopped itself before it was done.',
    remedy: 'See to what has stopped it, then go on with "cqbatch resume".',
  },
} satisfies Record<string, CodeFacts>;

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

/** What the table says of a failure. */
export function failureFacts(code: FailureCode): FailureFacts {
  return isKnownFailure(code) ? failures[code] : factsOfStatus(Number(code.slice('HTTP_'.length)));
}

function isKnownFailure(code: string): code is KnownFailure {
  return Object.hasOwn(failures, code);
}

/** What a code says; of one that another version knows, what is always true. */
export function codeFacts(code: string): CodeFacts {
  if (/^HTTP_\d{3}$/.test(code)) return failureFacts(code as StatusCode);
  if (Object.hasOwn(all, code)) return all[code] as CodeFacts;
  return {
    meaning: 'This version of cqbatch does not know the code.',
    remedy: `Look at the message. ${lookFirst}`,
  };
}

/** What it says to people. */
export function adviceOn(code: string): CodeAdvice {
  const { meaning, remedy } = codeFacts(code);
  return { meaning, ...(remedy !== undefined && { remedy }) };
}

/** A status takes the meaning of its class (RFC 9110, section 15): 4xx that of 400, 5xx that of 500. */
function factsOfStatus(status: number): FailureFacts {
  const meaning = `The service has answered with HTTP status ${status}.`;
  if (status >= 400 && status < 500) return permanent(meaning);
  return unclear(status >= 500 && status < 600 ? retry(meaning) : permanent(meaning, lookFirst));
}

/** Whether the same call may succeed when it is made again, after one that has failed with this code. */
export function mayPassAgain(code: string): boolean {
  return codeFacts(code).class !== 'permanent';
}
