/**
 * What to do about a row whose call has failed:
 *
 * - `retry`: try again later, several times.
 * - `unreachable`: the request was not sent, because no connection could be made: wait and try again. Costs no attempt.
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

export interface CodeAdvice {
  readonly meaning: string;
  readonly remedy?: string;
}

export interface CodeFacts extends CodeAdvice {
  /** What happens to the row. Absent for a code that is no failure. */
  readonly class?: FailureClass;
  /** Whether the API may have processed a request that it answers with this code. */
  readonly unclear?: true;
  /** A new call fails again until a person has changed something that is not in the row, such as a permission. */
  readonly needsChange?: true;
}

export type FailureFacts = CodeFacts & { readonly class: FailureClass };

const again = 'Run "cqbatch retry --transient"; if the calls fail again, ask the operators of the API.';
const againUnlessAlone = `${again} If the message says that a row will not pass, correct the row, or show the message to the operators.`;
export const mend = 'Correct these rows in correct.csv, then run that file.';
const thenRetry = 'Then type "cqbatch retry" with --code and this code.';
const askOperators = `Show the message to the operators of the API, and of what is in front of it. ${thenRetry}`;
const thenContinue = 'then continue with "cqbatch resume", or "cqbatch retry" with --code and this code.';
const renew = `Renew the access token, ${thenContinue}`;
const refused = 'Read the message. The same call would be refused again.';
const checkNetwork = 'Check the base URL and the network, then run "cqbatch retry --transient".';
const checkPath =
  'Check the base URL (--base-url) and its path prefix. The message names the path that was asked below it.';
const checkProxy = `Check the proxy (HTTPS_PROXY, HTTP_PROXY), ${thenContinue}`;
export const lookFirst =
  'Check the entries in the API before you repeat these rows. Show one of them to the operators of the API.';

const ofClass =
  (failureClass: FailureClass, usualRemedy: string) =>
  (meaning: string, remedy = usualRemedy): FailureFacts => ({ class: failureClass, meaning, remedy });

export const passing = ofClass('retry', again);
const unreachable = ofClass('unreachable', checkNetwork);
export const permanent = ofClass('permanent', refused);
const halt = ofClass('halt', renew);
const haltEarly = ofClass('halt-early', refused);
const aborted = ofClass('aborted', again);
export const unclear = (facts: FailureFacts): FailureFacts => ({ ...facts, unclear: true });
const needsChangeFirst = (facts: FailureFacts): FailureFacts => ({ ...facts, needsChange: true });

/**
 * The codes of failures. Servers or gateways use unclear codes after they lost sight of the request. ABORTED means that the change was
 * rolled back, RESOURCE_EXHAUSTED that it was refused before it began.
 */
export const failures = {
  // The canonical codes, in the order of their numbers (`google/rpc/code.proto`).
  CANCELLED: unclear(
    passing(
      'The run was cancelled before the row was done, or the API gave up the call: the message says which.',
      'If you cancelled the run, leave them; "cqbatch retry" calls them nevertheless. If the API gave up, retry the row.',
    ),
  ),
  UNKNOWN: unclear(passing('The API failed and does not say why.', againUnlessAlone)),
  INVALID_ARGUMENT: permanent('The API does not accept a value of the row.', mend),
  DEADLINE_EXCEEDED: unclear(passing('The API, or a gateway in front of it, took too long.')),
  NOT_FOUND: permanent(
    'The API does not know this identifier; or, if the message says so, another server has answered.',
    `Check the identifier, or the base URL (--base-url) and its path prefix. ${mend}`,
  ),
  ALREADY_EXISTS: permanent(
    'What the row would create already exists.',
    'Nothing to do, if the entry is as the row wants.',
  ),
  PERMISSION_DENIED: haltEarly(
    'The user of the access token is not allowed to do this.',
    `Ask for the permission, or use the token of another user. ${thenRetry}`,
  ),
  RESOURCE_EXHAUSTED: passing(
    'The API refused too many calls, or refused this row again and again, and accepted others.',
    'Read the message. If the row alone is refused, correct the row; otherwise retry with a lower --rate.',
  ),
  FAILED_PRECONDITION: permanent(
    'The API refuses this in the current state of the entry, for example because the entry is not deleted.',
    "Read the message. A retry will fail again until the entry's state changes.",
  ),
  ABORTED: passing('The API gave up the call because of another call.'),
  OUT_OF_RANGE: permanent('A value of the row is out of range.', mend),
  UNIMPLEMENTED: permanent(
    'The API does not have this operation, or a router in front of it does not know the path: no row is to blame.',
    checkPath,
  ),
  INTERNAL: unclear(passing('The API failed.', againUnlessAlone)),
  UNAVAILABLE: unclear(passing('The API was not available.')),
  DATA_LOSS: unclear(permanent('The API reports lost data.', lookFirst)),
  UNAUTHENTICATED: halt('The access token is not valid, or has expired.'),
  // Codes for HTTP statuses without a canonical code.
  REQUEST_TIMEOUT: passing('The API did not receive the whole request in time.'),
  CONFLICT: permanent(
    'Another user has changed the entry at the same time.',
    'Check the entry, then run the row again.',
  ),
  TOO_EARLY: passing('The API refused the call because the call came too early.'),
  BAD_GATEWAY: unclear(passing('A gateway in front of the API got no usable answer from the API.')),
  HTTP_REDIRECT: haltEarly(
    'The API redirects to another address, and cqbatch does not follow.',
    `Check the base URL. ${thenRetry}`,
  ),
  // Codes for invalid answers.
  ANSWER_NOT_JSON: needsChangeFirst(
    passing(
      'Something other than the API answered, such as a login page or a proxy.',
      `Open the base URL in a browser to see what answers there, and correct the base URL or the proxy. ${thenRetry}`,
    ),
  ),
  ANSWER_TOO_LARGE: needsChangeFirst(passing('The answer is larger than cqbatch accepts.', askOperators)),
  ANSWER_ENCODING_UNKNOWN: needsChangeFirst(
    passing('The API reported success in an answer with an unknown compression.', askOperators),
  ),
  ANSWER_ENCODING_BROKEN: passing('The API reported success in an answer that cannot be decompressed.'),
  ANSWER_INCOMPLETE: permanent(
    'The API reported success, but does not say for which entry: the change may have been made.',
    lookFirst,
  ),
  ANSWER_ID_MISMATCH: permanent(
    'The API reported success, but for another entry, which may have changed. The first such answer halts the run.',
    `The message names both entries. ${lookFirst}`,
  ),
  ANSWER_STILL_DELETED: permanent(
    'The API reported success, but the evaluation in its answer is still deleted. The evaluation may be restored or not.',
    lookFirst,
  ),
  ANSWER_NOT_HTTP: needsChangeFirst(
    passing(
      'The server does not speak HTTP.',
      `Check the base URL and what is in front of the API. ${thenRetry}`,
    ),
  ),
  ANSWER_INFORMATIONAL: needsChangeFirst(
    passing(
      'The API, or a proxy in front of it, sent an interim answer, and the final answer was lost.',
      `The message says what to change there. ${thenRetry}`,
    ),
  ),
  ANSWER_CUT_OFF: passing('The connection broke in the middle of the answer.'),
  // Codes for the connection to the API.
  CONNECTION_LOST: passing('The connection broke before the answer.'),
  HEADERS_TIMEOUT: passing('No answer came in time.'),
  BODY_TIMEOUT: passing('The rest of the answer did not come in time.'),
  TOTAL_TIMEOUT: passing(
    'The complete answer did not come in time.',
    `${again} --timeout gives the API more time.`,
  ),
  CONNECTION_REFUSED: unreachable('The host of the API refused the connection.'),
  HOST_NOT_FOUND: unreachable('The host of the base URL has no address.'),
  CONNECT_TIMEOUT: unreachable('The host of the API accepted no connection in time.'),
  CONNECT_FAILED: unreachable('No connection to the API could be made.'),
  LOCAL_LIMIT: needsChangeFirst(
    unreachable(
      'This process has no memory or file descriptors left for a connection.',
      `Raise the limit that the message names. ${thenRetry}`,
    ),
  ),
  TLS_ERROR: needsChangeFirst(
    unreachable(
      'The certificate of the API is not trusted, or the API does not speak TLS.',
      `Check the base URL. For a private CA, set NODE_EXTRA_CA_CERTS. ${thenRetry}`,
    ),
  ),
  PROXY_UNREACHABLE: unreachable('The proxy could not be reached.', checkProxy),
  PROXY_BAD_GATEWAY: unreachable('The proxy could not connect to the API.', checkProxy),
  PROXY_AUTHENTICATION: halt('The proxy requires a user name and password, or other ones.', checkProxy),
  PROXY_REFUSED: halt('The proxy does not allow connections to the API.', checkProxy),
  // Codes for failures on this side.
  CLIENT_FAILED: needsChangeFirst(
    unclear(
      passing(
        'The client of the API failed and does not say whether the request was sent.',
        `The message says why. Correct the program that passes the client. ${thenRetry}`,
      ),
    ),
  ),
  TOKEN_UNREADABLE: halt('The access token could not be read.'),
  TOKEN_EMPTY: halt('The access token was empty.'),
  TOKEN_MALFORMED: halt('The value of the access token cannot be a token.'),
  INTERRUPTED: aborted('The run was stopped before the row was done.', 'Continue with "cqbatch resume".'),
  CLIENT_CLOSED: aborted('The call was given up before the request was sent.'),
} satisfies Record<string, FailureFacts>;

/** The codes of this program that say what became of a row, and not why a call failed. */
export const otherCodes = {
  OK: { meaning: 'The API made the change.' },
  ALREADY_APPLIED: {
    meaning:
      'The service says that the change was made before. If the row is unclear, an earlier attempt of the row probably made the change.',
  },
  OPERATION_FAILED: permanent(
    'The module of --operations failed while reading the answer. The change may have been made.',
    `Correct the operation that the message names. ${lookFirst}`,
  ),
  INVALID_ROW: { meaning: 'The row has an error, so no request was sent.', remedy: mend },
  DUPLICATE: { meaning: 'Identical to an earlier row, which was called instead.' },
  DONE_BEFORE: { meaning: 'An earlier run has done this row, so the row was left out.' },
  AS_WANTED: { meaning: 'The entry was already as the row wants, so the row was left out (--compare).' },
  CHANGED_SINCE: permanent(
    'The entry has changed since the comparison, so the row was not called.',
    'Look at the entry. To compare and call the row again, type "cqbatch retry RUN --code CHANGED_SINCE".',
  ),
  SUPERSEDED: { meaning: 'A later row changes the same entry and was called instead.' },
  NOT_REPEATED: permanent(
    'An earlier attempt may have made the change, and this operation must not be repeated.',
    lookFirst,
  ),
  RESULT_LOST: permanent(
    'The disk or the datastore lost what became of this row, as in a power failure or a failover of Redis. The row is not called again: its operation must not be repeated, or a later row of its entry was called since.',
    lookFirst,
  ),
  PENDING: {
    meaning: 'The row has no result yet. Resuming a stopped run finds out whether the row was called.',
  },
  HALTED: {
    meaning: 'The run halted, or gave up, before the row was done.',
    remedy: 'Correct what stopped the run, then continue with "cqbatch resume".',
  },
} satisfies Record<string, CodeFacts>;
