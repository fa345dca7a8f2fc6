import { expect, test } from 'vitest';
import { fatalError } from '../../../../src/base/errors/errors.ts';
import { healthOf } from '../../../../src/cli/commands/daemon/worker.ts';

const fiveMinutes = 5 * 60_000;
const never = new AbortController().signal;
const well = { lastingError: undefined, text: undefined };
const refusing = (forMs: number) => ({
  trouble: 'Redis is a read-only replica',
  refusal: { reason: fatalError('REDIS_REPLICA', 'Redis is a read-only replica.'), forMs },
});
const failing = (forMs: number) => ({
  lastingError: { error: new Error('NOSCRIPT'), forMs },
  text: 'a command fails',
});

const quiet = { trouble: undefined };
const refused = refusing(fiveMinutes);
const stopping = AbortSignal.abort();
const replaced = { idleBecause: 'old', active: 0 };

test.each<[what: string, known: Parameters<typeof healthOf>, healthy: boolean, ready: boolean]>([
  ['all is well', [quiet, well, never, undefined], true, true],
  [
    'Redis refuses a bit less than five minutes',
    [refusing(fiveMinutes - 1), well, never, undefined],
    true,
    false,
  ],
  ['Redis has refused for five minutes', [refused, well, never, undefined], false, false],
  ['a command has failed for five minutes', [quiet, failing(fiveMinutes), never, undefined], false, false],
  ['Redis is away, however long', [{ trouble: 'away' }, failing(fiveMinutes), never, undefined], true, false],
  ['it stops while Redis refuses', [refused, well, stopping, undefined], true, false],
  ['another version has to call the rows', [quiet, well, never, replaced], true, false],
])('the health of a worker: %s', (_what, known, healthy, ready) => {
  expect(healthOf(...known)).toMatchObject({ healthy, ready });
});
