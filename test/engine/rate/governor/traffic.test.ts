import { expect, test } from 'vitest';
import { Reaction } from '../../../../src/engine/rate/governor/traffic.ts';
import { nothing } from './no-traffic.ts';

test('a process that was suspended for an hour does not expect late news', () => {
  const reaction = new Reaction(0);
  reaction.update(3_600_000, nothing);
  expect(reaction.lagMs).toBeLessThanOrEqual(100);
});
