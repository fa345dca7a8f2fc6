import { statusVerdict } from '../api/classify/verdict.ts';
import type { rowCodes } from '../codes.ts';
import type { CodeAdvice } from '../report/html/page-data.ts';

const retry = 'Run "cqbatch retry" for these rows; if it happens again, ask those who run the service.';
const mend = 'Mend these rows in failed.csv, and feed that file back.';
const token = 'Renew the access token, then go on with "cqbatch resume" or "cqbatch retry".';
const refused = 'Look at the message. The same call would be refused again.';
const network = 'Check the base URL and the network, then run "cqbatch retry" for these rows.';
const proxy =
  'Check the proxy (HTTPS_PROXY, HTTP_PROXY), then go on with "cqbatch resume" or "cqbatch retry".';
const lookFirst =
  'Do not repeat these rows before you have looked at the entries in the service. Show one of them to those who run the service.';

/** What the codes mean that rows end with, and what can be done about them. */
const known: Readonly<Record<(typeof rowCodes)[number], CodeAdvice>> = {
  OK: { meaning: 'The service has done it.' },
  ALREADY_APPLIED: {
    meaning:
      'The service says that it is done already. An earlier attempt whose answer was lost has most likely done it.',
  },
  DUPLICATE: { meaning: 'The same as an earlier row, which was called instead.' },
  DONE_BEFORE: { meaning: 'An earlier run has done it, so it was left out.' },
  SUPERSEDED: { meaning: 'A later row changes the same entry and was called instead.' },
  INVALID_ROW: { meaning: 'The row was not sent, because something in it is wrong.', remedy: mend },
  NOT_FOUND: {
    meaning: 'The service knows nothing of that identifier.',
    remedy: `See that it is right. ${mend}`,
  },
  FAILED_PRECONDITION: {
    meaning:
      'The service refuses it in the state in which the entry is, for instance because it is not deleted.',
    remedy: 'Look at the message. Trying again changes nothing as long as the entry is as it is.',
  },
  INVALID_ARGUMENT: { meaning: 'The service does not accept a value of the row.', remedy: mend },
  ALREADY_EXISTS: {
    meaning: 'What the row would make is there already.',
    remedy: 'Nothing, if it is as it should be.',
  },
  OUT_OF_RANGE: { meaning: 'A value of the row is out of range.', remedy: mend },
  CONFLICT: {
    meaning: 'Another user has changed the entry at the same time.',
    remedy: 'Look at the entry, then feed the row back.',
  },
  ABORTED: { meaning: 'The service gave the call up because of another one.', remedy: retry },
  PERMISSION_DENIED: {
    meaning: 'The user of the access token may not do this.',
    remedy: 'Have the right given to that user, or use the token of another one.',
  },
  UNAUTHENTICATED: { meaning: 'The access token is not valid, or not any more.', remedy: token },
  TOKEN_UNREADABLE: { meaning: 'The access token could not be read.', remedy: token },
  TOKEN_EMPTY: { meaning: 'The access token was empty.', remedy: token },
  TOKEN_MALFORMED: { meaning: 'What was given as the access token cannot be one.', remedy: token },
  UNIMPLEMENTED: { meaning: 'The service does not have this operation.', remedy: 'Check the base URL.' },
  HTTP_REDIRECT: {
    meaning: 'The service sends callers to another address, and cqbatch does not follow.',
    remedy: 'Check the base URL.',
  },
  RESOURCE_EXHAUSTED: {
    meaning: 'The service refused too many calls.',
    remedy: 'Retry with a lower --rate.',
  },
  UNAVAILABLE: { meaning: 'The service could not be used.', remedy: retry },
  INTERNAL: { meaning: 'The service has failed at it.', remedy: retry },
  UNKNOWN: { meaning: 'The service has failed, and does not say why.', remedy: retry },
  DATA_LOSS: { meaning: 'The service says that data are lost.', remedy: lookFirst },
  DEADLINE_EXCEEDED: { meaning: 'The service, or a gateway before it, took too long.', remedy: retry },
  REQUEST_TIMEOUT: { meaning: 'The service did not get the whole request in time.', remedy: retry },
  TOO_EARLY: { meaning: 'The service refused the call because it came too early.', remedy: retry },
  BAD_GATEWAY: { meaning: 'A gateway before the service got no usable answer from it.', remedy: retry },
  TOTAL_TIMEOUT: { meaning: 'No whole answer came in time.', remedy: `${retry} --timeout gives it longer.` },
  HEADERS_TIMEOUT: { meaning: 'No answer came in time.', remedy: retry },
  BODY_TIMEOUT: { meaning: 'The rest of an answer did not come in time.', remedy: retry },
  CONNECTION_LOST: { meaning: 'The connection broke before the answer.', remedy: retry },
  ANSWER_CUT_OFF: { meaning: 'The connection broke in the middle of the answer.', remedy: retry },
  CONNECTION_REFUSED: { meaning: 'The host of the service accepted no connection.', remedy: network },
  HOST_NOT_FOUND: { meaning: 'The host of the base URL has no address.', remedy: network },
  CONNECT_TIMEOUT: { meaning: 'The host of the service accepted no connection in time.', remedy: network },
  CONNECT_FAILED: { meaning: 'No connection to the service came about.', remedy: network },
  TLS_ERROR: {
    meaning: 'The certificate of the service is not trusted, or the service speaks no TLS.',
    remedy: 'Check the base URL. For a private authority, set NODE_EXTRA_CA_CERTS.',
  },
  PROXY_UNREACHABLE: { meaning: 'The proxy could not be reached.', remedy: proxy },
  PROXY_BAD_GATEWAY: { meaning: 'The proxy got no connection to the service.', remedy: proxy },
  PROXY_AUTHENTICATION: { meaning: 'The proxy wants another user name and password.', remedy: proxy },
  PROXY_REFUSED: { meaning: 'The proxy does not let connections to the service through.', remedy: proxy },
  ANSWER_ID_MISMATCH: {
    meaning: 'The service reported success, but for another entry: it may have changed that one.',
    remedy: `The message names both entries. ${lookFirst}`,
  },
  ANSWER_INCOMPLETE: {
    meaning: 'The service reported success, but does not say for which entry: it may have made the change.',
    remedy: lookFirst,
  },
  ANSWER_STILL_DELETED: {
    meaning:
      'The service reported success, but the evaluation in its answer is still deleted: it may be restored or not.',
    remedy: lookFirst,
  },
  NOT_REPEATED: {
    meaning: 'An earlier attempt may have made the change, and this operation must not be repeated.',
    remedy: lookFirst,
  },
  ANSWER_NOT_JSON: {
    meaning: 'Something else than the service has answered, such as a login page or a proxy.',
    remedy: 'Open the base URL in a browser to see what answers there.',
  },
  ANSWER_NOT_HTTP: {
    meaning: 'What answered does not speak HTTP.',
    remedy: 'Check the base URL and what stands before the service.',
  },
  ANSWER_INFORMATIONAL: {
    meaning: 'The service, or a proxy before it, sent an answer before the answer, and the real one is lost.',
    remedy: 'The message says what to change there. Then run "cqbatch retry" for these rows.',
  },
  ANSWER_TOO_LARGE: { meaning: 'The answer is larger than cqbatch accepts.', remedy: retry },
  ANSWER_ENCODING_UNKNOWN: {
    meaning: 'The service reported success in an answer that is compressed in an unknown way.',
    remedy: retry,
  },
  ANSWER_ENCODING_BROKEN: {
    meaning: 'The service reported success in an answer that cannot be decompressed.',
    remedy: retry,
  },
  PENDING: { meaning: 'The run has not come to it yet.' },
  INTERRUPTED: { meaning: 'The run was stopped before it was done.', remedy: 'Go on with "cqbatch resume".' },
  CLIENT_CLOSED: { meaning: 'The call was given up before it was sent.', remedy: retry },
  HALTED: {
    meaning: 'The run has stopped itself before it was done.',
    remedy: 'See to what has stopped it, then go on with "cqbatch resume".',
  },
  CANCELLED: {
    meaning:
      'The run was cancelled before it was done, or the service gave the call up: the message says which.',
    remedy: '"cqbatch retry" takes these rows, too.',
  },
};

/** What a code means; of one that another version knows, what is always true. */
export function adviceOn(code: string): CodeAdvice {
  const status = /^HTTP_(\d{3})$/.exec(code)?.[1];
  if (status !== undefined) return adviceOnStatus(Number(status));
  if (Object.hasOwn(known, code)) return known[code as keyof typeof known];
  return {
    meaning: 'This version of cqbatch does not know the code.',
    remedy: `Look at the message. ${lookFirst}`,
  };
}

function adviceOnStatus(status: number): CodeAdvice {
  const meaning = `The service has answered with HTTP status ${status}.`;
  const { class: kind, unclear } = statusVerdict(status);
  if (kind !== 'permanent') return { meaning, remedy: retry };
  return { meaning, remedy: unclear ? lookFirst : refused };
}
