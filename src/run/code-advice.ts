import { mayPassAgain } from '../api/classify/verdict.ts';
import type { CodeAdvice } from '../report/html/page-data.ts';

const retry = 'Run "cqbatch retry" for these rows; if it happens again, ask those who run the service.';
const mend = 'Mend these rows in failed.csv, and feed that file back.';
const token = 'Renew the access token, then go on with "cqbatch resume" or "cqbatch retry".';

/** What the codes mean that rows end with, and what can be done about them. */
const known: Readonly<Record<string, CodeAdvice>> = {
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
    meaning: 'Somebody else has changed the entry at the same time.',
    remedy: 'Look at the entry, then feed the row back.',
  },
  ABORTED: { meaning: 'The service gave the call up because of another one.', remedy: retry },
  PERMISSION_DENIED: {
    meaning: 'The user of the access token may not do this.',
    remedy: 'Have the right given to that user, or use the token of another one.',
  },
  UNAUTHENTICATED: { meaning: 'The access token is not valid, or not any more.', remedy: token },
  UNIMPLEMENTED: { meaning: 'The service does not have this operation.', remedy: 'Check the base URL.' },
  RESOURCE_EXHAUSTED: {
    meaning: 'The service refused too many calls.',
    remedy: 'Retry with a lower --rate.',
  },
  UNAVAILABLE: { meaning: 'The service could not be used.', remedy: retry },
  INTERNAL: { meaning: 'The service has failed at it.', remedy: retry },
  UNKNOWN: { meaning: 'The service has failed, and does not say why.', remedy: retry },
  DATA_LOSS: { meaning: 'The service says that data are lost.', remedy: 'Tell those who run the service.' },
  DEADLINE_EXCEEDED: { meaning: 'The service, or a gateway before it, took too long.', remedy: retry },
  TOTAL_TIMEOUT: { meaning: 'No whole answer came in time.', remedy: `${retry} --timeout gives it longer.` },
  HEADERS_TIMEOUT: { meaning: 'No answer came in time.', remedy: retry },
  BODY_TIMEOUT: { meaning: 'The rest of an answer did not come in time.', remedy: retry },
  CONNECTION_LOST: { meaning: 'The connection broke before the answer.', remedy: retry },
  CONNECTION_REFUSED: {
    meaning: 'Nobody accepted the connection.',
    remedy: 'Check the base URL, then retry.',
  },
  BAD_GATEWAY: { meaning: 'A gateway before the service got no usable answer from it.', remedy: retry },
  ANSWER_NOT_JSON: {
    meaning: 'Something else than the service has answered, such as a login page or a proxy.',
    remedy: 'Open the base URL in a browser to see who answers there.',
  },
  PENDING: { meaning: 'The run has not come to it yet.' },
  INTERRUPTED: { meaning: 'The run was stopped before it was done.', remedy: 'Go on with "cqbatch resume".' },
  HALTED: {
    meaning: 'The run has stopped itself before it was done.',
    remedy: 'See to what has stopped it, then go on with "cqbatch resume".',
  },
  CANCELLED: {
    meaning: 'The run was cancelled before it was done.',
    remedy: '"cqbatch retry" takes these rows, too.',
  },
};

/** What a code means; of one that is not known, what can be told from its form. */
export function adviceOn(code: string): CodeAdvice {
  const advice = known[code];
  if (advice !== undefined) return advice;
  const status = /^HTTP_(\d{3})$/.exec(code)?.[1];
  const meaning =
    status === undefined
      ? 'Told by the service, or on the way to it.'
      : `The service has answered with HTTP status ${status}.`;
  return {
    meaning,
    remedy: mayPassAgain(code) ? retry : 'Look at the message. The same call would be refused again.',
  };
}
