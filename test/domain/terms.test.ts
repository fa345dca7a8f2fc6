import { expect, test } from 'vitest';
import { percentOf } from '../../src/domain/terms.ts';

test.each([
  [99_999, 100_000, 99],
  [100, 100, 100],
  [0, 0, 0],
])('%i of %i rows are %i %%', (done, rows, percent) => {
  expect(percentOf(done, rows)).toBe(percent);
});
