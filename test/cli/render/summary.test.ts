import { describe, expect, test } from 'vitest';
import { plain } from '../../../src/cli/render/style.ts';
import { failureText } from '../../../src/cli/render/summary.ts';
import type { RunRecord } from '../../../src/run/record/record.ts';

const record = { id: 'r', plan: { rows: 6_000 } } as RunRecord;
const counts = { succeeded: 1_200, failed: 3, invalid: 0, duplicate: 0, skipped: 0, not_attempted: 0 };
const none = { ...counts, succeeded: 0, failed: 0 };

describe('what is said of a run that has failed is what was found', () => {
  test.each([
    [
      'to be there',
      { counts, intact: true, ended: false },
      'Run r has stopped; its journal has the results of 1,203 of 6,000 rows (1,200 succeeded, 3 failed). ' +
        'Go on with: cqbatch resume r',
    ],
    [
      'to be there, though it is nothing',
      { counts: none, intact: true, ended: false },
      'Run r has stopped; its journal has the results of 0 of 6,000 rows. Go on with: cqbatch resume r',
    ],
    [
      'to be gone',
      { counts, intact: false, ended: false },
      'Run r has stopped, and its folder is not as it was. Unless you put it back, the results of 1,203 of 6,000 rows ' +
        '(1,200 succeeded, 3 failed) are lost.',
    ],
    [
      'to be there, but for the report',
      { counts, intact: true, ended: true },
      'Run r has ended; its journal has the results of 1,203 of 6,000 rows (1,200 succeeded, 3 failed). Only the report ' +
        'is missing.',
    ],
  ])('%s', (_title, failed, text) => {
    expect(plain(failureText(record, failed))).toBe(text);
  });
});
