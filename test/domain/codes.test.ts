import { describe, expect, test } from 'vitest';
import { codeFacts, mayPassAgain, rowCodes, stepAfter } from '../../src/domain/codes.ts';

const lookFirst = /Check the entries in the API before you repeat these rows/;
const refused = /would be refused again/;

describe('the advice on a code', () => {
  test.each(['ANSWER_ID_MISMATCH', 'ANSWER_INCOMPLETE', 'ANSWER_STILL_DELETED'])(
    'says for an answer that reported success that a change may have been made: %s',
    (code) => {
      const { meaning, remedy } = codeFacts(code);
      expect(meaning).toMatch(/reported success.* may /);
      expect(remedy).toMatch(lookFirst);
    },
  );

  test.each([
    ['HTTP_418', refused],
    ['HTTP_520', /cqbatch retry/],
    ['HTTP_600', lookFirst],
    ['OF_ANOTHER_VERSION', lookFirst],
    ['constructor', lookFirst],
  ])('is true for a code without a sentence of its own: %s', (code, remedy) => {
    expect(codeFacts(code).remedy).toMatch(remedy);
  });
});

// The class of each code: docs/reference.md, which is made from it.
test.each([
  [true, 'UNAVAILABLE REQUEST_TIMEOUT HTTP_520 RESOURCE_EXHAUSTED CONNECTION_REFUSED CANCELLED'],
  [false, 'NOT_FOUND HTTP_418 HTTP_600 NOT_REPEATED RESULT_LOST OPERATION_FAILED ANSWER_INCOMPLETE'],
  [
    false,
    'UNAUTHENTICATED PERMISSION_DENIED HTTP_REDIRECT PROXY_REFUSED ANSWER_NOT_JSON TLS_ERROR OK HALTED',
  ],
  [false, 'ANSWER_TOO_LARGE ANSWER_ENCODING_UNKNOWN LOCAL_LIMIT'],
])('a repeated call may pass without a change by a person: %s for %s', (mayPass, codes) => {
  for (const code of codes.split(' ')) expect([code, mayPassAgain(code)]).toEqual([code, mayPass]);
});

test.each([
  ['INVALID_ROW', 'correct'],
  ['NOT_FOUND', 'correct'],
  ['UNAVAILABLE', 'retry'],
  ['CANCELLED', 'retry'],
  ['FAILED_PRECONDITION', 'decide'],
  ['NOT_REPEATED', 'decide'],
])('what to do next with a row that failed with %s: %s', (code, step) => {
  expect(stepAfter(code)).toBe(step);
});

test('the remedy of a code names the retry that takes its rows', () => {
  for (const code of rowCodes) {
    const { remedy = '' } = codeFacts(code);
    if (remedy.includes('--transient')) expect([code, stepAfter(code)]).toEqual([code, 'retry']);
    if (stepAfter(code) !== 'retry') expect(remedy).not.toMatch(/"cqbatch retry"(?! with --code)/);
  }
});
