import { expect, test } from 'vitest';
import { play } from './play.ts';

/** A batch is added once more after its key was lost. */
const resentBatch = 82_884_797;
const seeds = [...Array.from({ length: 60 }, (_, index) => index + 1), resentBatch];

test('61 runs keep all promises, whatever happens to them', async () => {
  const broken: unknown[] = [];
  for (const seed of seeds) {
    const { violations } = await play(seed);
    if (violations.length > 0) broken.push({ seed, violations });
  }
  expect(broken).toEqual([]);
});

test('the same seed gives the same run', async () => {
  for (const seed of seeds.slice(0, 5)) {
    const [first, second] = [await play(seed), await play(seed)];
    expect([second.trace, second.events]).toEqual([first.trace, first.events]);
  }
});
