/** What the body of a 2xx answer says: the value, or why it is not the answer to the request. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: ReadingProblem; readonly message: string };

/**
 * - `ANSWER_INCOMPLETE`: the identifier that the answer must hold is missing or unreadable.
 * - `ANSWER_ID_MISMATCH`: the answer is about another thing.
 * - `ANSWER_STILL_DELETED`: the evaluation is still deleted.
 */
type ReadingProblem = 'ANSWER_INCOMPLETE' | 'ANSWER_ID_MISMATCH' | 'ANSWER_STILL_DELETED';

/** The identifier in the answer, when it is the one that was sent (canonical decimal). */
export function readIdentifier(field: string, sent: string, received: bigint | undefined): Reading<bigint> {
  if (received === undefined) {
    return { ok: false, code: 'ANSWER_INCOMPLETE', message: `The answer holds no readable ${field}` };
  }
  if (String(received) !== sent) {
    const message = `The answer is about ${field} ${received}, the request was about ${sent}`;
    return { ok: false, code: 'ANSWER_ID_MISMATCH', message };
  }
  return { ok: true, value: received };
}
