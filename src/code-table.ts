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

const retry = 'Run "cqbatch retry" for these rows; if it happens again, ask those who run the service.';
const mend = 'Mend these rows in failed.csv, and feed that file back.';
const token = 'Renew the access token, then go on with "cqbatch resume" or "cqbatch retry".';
const refused = 'Look at the message. The same call would be refused again.';
const network = 'Check the base URL and the network, then run "cqbatch retry" for these rows.';
const proxy =
  'Check the proxy (HTTPS_PROXY, HTTP_PROXY), then go on with "cqbatch resume" or "cqbatch retry".';
const lookFirst =
  'Do not repeat these rows before you have looked at the entries in the service. Show one of them to those who run the service.';

/** Remedies for codes that are not in the table. */
export const remedies = { retry, refused, lookFirst };

/**
 * Codes of calls that fail. Unclear are those that a server or a gateway gives when it lost sight of the request. ABORTED says that the
 * change was rolled back, RESOURCE_EXHAUSTED that it was refused before it began.
 */
export const failures = {
  // The canonical ones, in the order of their numbers (`google/rpc/code.proto`).
  CANCELLED: {
    class: 'retry',
    unclear: true,
    meaning:
      'The run was cancelled before it was done, or the service gave the call up: the message says which.',
    remedy: '"cqbatch retry" takes these rows, too.',
  },
  UNKNOWN: {
    class: 'retry',
    unclear: true,
    meaning: 'The service has failed, and does not say why.',
    remedy: retry,
  },
  INVALID_ARGUMENT: {
    class: 'permanent',
    meaning: 'The service does not accept a value of the row.',
    remedy: mend,
  },
  DEADLINE_EXCEEDED: {
    class: 'retry',
    unclear: true,
    meaning: 'The service, or a gateway before it, took too long.',
    remedy: retry,
  },
  NOT_FOUND: {
    class: 'permanent',
    meaning: 'The service knows nothing of that identifier.',
    remedy: `See that it is right. ${mend}`,
  },
  ALREADY_EXISTS: {
    class: 'permanent',
    meaning: 'What the row would make is there already.',
    remedy: 'Nothing, if it is as it should be.',
  },
  PERMISSION_DENIED: {
    class: 'halt-early',
    meaning: 'The user of the access token may not do this.',
    remedy: 'Have the right given to that user, or use the token of another one.',
  },
  RESOURCE_EXHAUSTED: {
    class: 'retry',
    meaning: 'The service refused too many calls.',
    remedy: 'Retry with a lower --rate.',
  },
  FAILED_PRECONDITION: {
    class: 'permanent',
    meaning:
      'The service refuses it in the state in which the entry is, for instance because it is not deleted.',
    remedy: 'Look at the message. Trying again changes nothing as long as the entry is as it is.',
  },
  ABORTED: { class: 'retry', meaning: 'The service gave the call up because of another one.', remedy: retry },
  OUT_OF_RANGE: { class: 'permanent', meaning: 'A value of the row is out of range.', remedy: mend },
  UNIMPLEMENTED: {
    class: 'permanent',
    meaning: 'The service does not have this operation.',
    remedy: 'Check the base URL.',
  },
  INTERNAL: { class: 'retry', unclear: true, meaning: 'The service has failed at it.', remedy: retry },
  UNAVAILABLE: { class: 'retry', unclear: true, meaning: 'The service could not be used.', remedy: retry },
  DATA_LOSS: {
    class: 'permanent',
    unclear: true,
    meaning: 'The service says that data are lost.',
    remedy: lookFirst,
  },
  UNAUTHENTICATED: {
    class: 'halt',
    meaning: 'The access token is not valid, or not any more.',
    remedy: token,
  },
  // Of HTTP statuses without one.
  REQUEST_TIMEOUT: {
    class: 'retry',
    meaning: 'The service did not get the whole request in time.',
    remedy: retry,
  },
  CONFLICT: {
    class: 'permanent',
    meaning: 'Another user has changed the entry at the same time.',
    remedy: 'Look at the entry, then feed the row back.',
  },
  TOO_EARLY: {
    class: 'retry',
    meaning: 'The service refused the call because it came too early.',
    remedy: retry,
  },
  BAD_GATEWAY: {
    class: 'retry',
    unclear: true,
    meaning: 'A gateway before the service got no usable answer from it.',
    remedy: retry,
  },
  HTTP_REDIRECT: {
    class: 'halt-early',
    meaning: 'The service sends callers to another address, and cqbatch does not follow.',
    remedy: 'Check the base URL.',
  },
  // Of answers that are not as they should be.
  ANSWER_NOT_JSON: {
    class: 'retry',
    meaning: 'Something else than the service has answered, such as a login page or a proxy.',
    remedy: 'Open the base URL in a browser to see what answers there.',
  },
  ANSWER_TOO_LARGE: { class: 'retry', meaning: 'The answer is larger than cqbatch accepts.', remedy: retry },
  ANSWER_ENCODING_UNKNOWN: {
    class: 'retry',
    meaning: 'The service reported success in an answer that is compressed in an unknown way.',
    remedy: retry,
  },
  ANSWER_ENCODING_BROKEN: {
    class: 'retry',
    meaning: 'The service reported success in an answer that cannot be decompressed.',
    remedy: retry,
  },
  ANSWER_INCOMPLETE: {
    class: 'permanent',
    meaning: 'The service reported success, but does not say for which entry: it may have made the change.',
    remedy: lookFirst,
  },
  ANSWER_ID_MISMATCH: {
    class: 'permanent',
    meaning: 'The service reported success, but for another entry: it may have changed that one.',
    remedy: `The message names both entries. ${lookFirst}`,
  },
  ANSWER_STILL_DELETED: {
    class: 'permanent',
    meaning:
      'The service reported success, but the evaluation in its answer is still deleted: it may be restored or not.',
    remedy: lookFirst,
  },
  ANSWER_NOT_HTTP: {
    class: 'retry',
    meaning: 'What answered does not speak HTTP.',
    remedy: 'Check the base URL and what stands before the service.',
  },
  ANSWER_INFORMATIONAL: {
    class: 'retry',
    meaning: 'The service, or a proxy before it, sent an answer before the answer, and the real one is lost.',
    remedy: 'The message says what to change there. Then run "cqbatch retry" for these rows.',
  },
  ANSWER_CUT_OFF: {
    class: 'retry',
    meaning: 'The connection broke in the middle of the answer.',
    remedy: retry,
  },
  // Of the way to the API.
  CONNECTION_LOST: { class: 'retry', meaning: 'The connection broke before the answer.', remedy: retry },
  HEADERS_TIMEOUT: { class: 'retry', meaning: 'No answer came in time.', remedy: retry },
  BODY_TIMEOUT: { class: 'retry', meaning: 'The rest of an answer did not come in time.', remedy: retry },
  TOTAL_TIMEOUT: {
    class: 'retry',
    meaning: 'No whole answer came in time.',
    remedy: `${retry} --timeout gives it longer.`,
  },
  CONNECTION_REFUSED: {
    class: 'unreachable',
    meaning: 'The host of the service accepted no connection.',
    remedy: network,
  },
  HOST_NOT_FOUND: {
    class: 'unreachable',
    meaning: 'The host of the base URL has no address.',
    remedy: network,
  },
  CONNECT_TIMEOUT: {
    class: 'unreachable',
    meaning: 'The host of the service accepted no connection in time.',
    remedy: network,
  },
  CONNECT_FAILED: {
    class: 'unreachable',
    meaning: 'No connection to the service came about.',
    remedy: network,
  },
  TLS_ERROR: {
    class: 'unreachable',
    meaning: 'The certificate of the service is not trusted, or the service speaks no TLS.',
    remedy: 'Check the base URL. For a private authority, set NODE_EXTRA_CA_CERTS.',
  },
  PROXY_UNREACHABLE: { class: 'unreachable', meaning: 'The proxy could not be reached.', remedy: proxy },
  PROXY_BAD_GATEWAY: {
    class: 'unreachable',
    meaning: 'The proxy got no connection to the service.',
    remedy: proxy,
  },
  PROXY_AUTHENTICATION: {
    class: 'halt',
    meaning: 'The proxy wants another user name and password.',
    remedy: proxy,
  },
  PROXY_REFUSED: {
    class: 'halt',
    meaning: 'The proxy does not let connections to the service through.',
    remedy: proxy,
  },
  // Of this side.
  TOKEN_UNREADABLE: { class: 'halt', meaning: 'The access token could not be read.', remedy: token },
  TOKEN_EMPTY: { class: 'halt', meaning: 'The access token was empty.', remedy: token },
  TOKEN_MALFORMED: {
    class: 'halt',
    meaning: 'What was given as the access token cannot be one.',
    remedy: token,
  },
  INTERRUPTED: {
    class: 'aborted',
    meaning: 'The run was stopped before it was done.',
    remedy: 'Go on with "cqbatch resume".',
  },
  CLIENT_CLOSED: { class: 'aborted', meaning: 'The call was given up before it was sent.', remedy: retry },
} as const satisfies Record<string, CodeFacts & { readonly class: FailureClass }>;

/** Codes of rows that did not fail by a call. */
export const others = {
  OK: { meaning: 'The service has done it.' },
  ALREADY_APPLIED: {
    meaning:
      'The service says that it is done already. An earlier attempt whose answer was lost has most likely done it.',
  },
  INVALID_ROW: { meaning: 'The row was not sent, because something in it is wrong.', remedy: mend },
  DUPLICATE: { meaning: 'The same as an earlier row, which was called instead.' },
  DONE_BEFORE: { meaning: 'An earlier run has done it, so it was left out.' },
  SUPERSEDED: { meaning: 'A later row changes the same entry and was called instead.' },
  NOT_REPEATED: {
    class: 'permanent',
    meaning: 'An earlier attempt may have made the change, and this operation must not be repeated.',
    remedy: lookFirst,
  },
  PENDING: { meaning: 'The run has not come to it yet.' },
  HALTED: {
    meaning: 'The run has stopped itself before it was done.',
    remedy: 'See to what has stopped it, then go on with "cqbatch resume".',
  },
} as const satisfies Record<string, CodeFacts>;
