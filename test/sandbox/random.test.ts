import { expect, test } from 'vitest';
import { randomFor } from '../../src/sandbox/random.ts';

test('the first numbers of neighboring keys are spread evenly', () => {
  const count = 20_000;
  const tenths = new Array<number>(10).fill(0);
  for (let id = 1; id <= count; id++) {
    const tenth = Math.floor(randomFor(1, 'fault', id).fraction() * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // Six standard deviations of a fair draw.
  for (const tenth of tenths) expect(Math.abs(tenth - count / 10)).toBeLessThan(6 * Math.sqrt(count * 0.09));
});
