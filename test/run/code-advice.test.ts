import { describe, expect, test } from 'vitest';
import { rowCodes } from '../../src/codes.ts';
import { adviceOn } from '../../src/run/code-advice.ts';

const lookFirst = /Do not repeat these rows before you have looked/;
const refused = /would be refused again/;

describe('advice on a code', () => {
  test('is written for each code of this version', () => {
    const { meaning: unknown } = adviceOn('OF_ANOTHER_VERSION');
    expect(rowCodes.filter((code) => adviceOn(code).meaning === unknown)).toEqual([]);
  });

  test.each(['ANSWER_ID_MISMATCH', 'ANSWER_INCOMPLETE', 'ANSWER_STILL_DELETED'])(
    'of an answer that reported success says that a change may have been made: %s',
    (code) => {
      const { meaning, remedy } = adviceOn(code);
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
  ])('that has no sentence of its own is true: %s', (code, remedy) => {
    expect(adviceOn(code).remedy).toMatch(remedy);
  });
});
