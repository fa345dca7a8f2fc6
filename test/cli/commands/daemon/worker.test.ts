import { expect, test } from 'vitest';
import { fatalError } from '../../../../src/base/errors/errors.ts';
import { healthOf } from '../../../../src/cli/commands/daemon/worker.ts';

const fiveMinutes = 5 * 60_000;
const never = new AbortController().signal;
const well = { current: undefined, text: undefined };
const refusing = (forMs: number) => ({
  trouble: 'Redis is a read-only replica',
  refusal: { reason: fatalError('REDIS_REPLICA', 'Redis is a read-only replica.'), forMs },
});
const failing = (forMs: number) => ({
  current: { error: new Error('NOSCRIPT'), forMs },
  text: 'a command fails',
});

test.each<[what: string, Parameters<typeof healthOf>, healthy: boolean, ready: boolean]>([
  ['all is well', [{ trouble: undefined }, well, never, undefined], true, true],
  [
    'Redis has refused for less than five minutes',
    [refusing(fiveMinutes - 1), well, never, undefined],
    true,
    false,
  ],
  ['Redis has refused for five minutes', [refusing(fiveMinutes), well, never, undefined], false, false],
  [
    'a command has failed for five minutes',
    [{ trouble: undefined }, failing(fiveMinutes), never, undefined],
    false,
    false,
  ],
  ['Redis is away, however long', [{ trouble: 'away' }, failing(fiveMinutes), never, undefined], true, false],
  [
    'it stops while Redis refuses',
    [refusing(fiveMinutes), well, AbortSignal.abort(), undefined],
    true,
    false,
  ],
  [
    'another version has to call the rows',
    [{ trouble: undefined }, well, never, { idleBecause: 'old', active: 0 }],
    true,
    false,
  ],
])('the health of a worker: %s', (_what, known, healthy, ready) => {
  expect(healthOf(...known)).toMatchObject({ healthy, ready });
});
