import { describe, expect, test } from 'vitest';
import { withoutMarks } from '../../../src/cli/render/style.ts';
import { failureText, rateLine } from '../../../src/cli/render/summary.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import type { RunRecord } from '../../../src/engine/run/record/record.ts';

const record = { id: 'r', plan: { rows: 6_000 } } as RunRecord;
const counts = {
  succeeded: 1_200,
  failed: 3,
  invalid: 0,
  duplicate: 0,
  skipped: 0,
  not_attempted: 0,
  pending: 0,
};

test.each([
  [
    'with results in the journal',
    { counts, isFolderIntact: true, hasEnded: false },
    'Run r stopped. Its journal has the results of 1,203 of 6,000 rows (1,200 succeeded, 3 failed). ' +
      'Continue with: cqbatch resume r',
  ],
  [
    'without results',
    { counts: noOutcomes(), isFolderIntact: true, hasEnded: false },
    'Run r stopped. Its journal has the results of 0 of 6,000 rows. Continue with: cqbatch resume r',
  ],
  [
    'whose folder was changed',
    { counts, isFolderIntact: false, hasEnded: false },
    'Run r stopped because its folder was changed. Restore the folder; otherwise the results of 1,203 of 6,000 rows ' +
      '(1,200 succeeded, 3 failed) are lost.',
  ],
  [
    'without a report',
    { counts, isFolderIntact: true, hasEnded: true },
    'Run r ended, and its journal has the results of 1,203 of 6,000 rows (1,200 succeeded, 3 failed). Only the report ' +
      'is missing.',
  ],
])('the text for a failed run %s', (_title, failed, text) => {
  expect(withoutMarks(failureText(record, failed))).toBe(text);
});

describe('the line of the rate', () => {
  const at = (t_s: number, accepted_per_s: number) => ({
    t_s,
    accepted_per_s,
    allowed_per_s: null,
    rejected: 0,
  });

  test('rises and falls with the rate', () => {
    const series = [20, 40, 80, 60, 0, 0, 80, 80].map((rate, second) => at(second + 1, rate));
    expect(rateLine(series, 8)).toBe('▁▂▄█▆▁▁█');
  });

  test('shows a long run as means', () => {
    const series = Array.from({ length: 1_000 }, (_, second) => at(second, second < 500 ? 10 : 20));
    expect(rateLine(series, 4)).toBe('▄▄██');
  });

  test('continues where points are missing', () => {
    expect(rateLine([at(0, 10), at(10, 10)], 5)).toBe('█████');
  });
});
