import type { RunProgress } from '../../../../src/engine/run/facts/run-facts.ts';
import { waitOf } from '../../../../src/engine/run/facts/run-wait.ts';
import { pacedBy, runFacts } from '../../../helpers/run-facts.ts';

/** Half past nine in the time zone of the reader. */
export const now = new Date(2026, 0, 5, 9, 30).getTime();

/** The time of day at this distance from now. */
export const inSeconds = (seconds: number): string => new Date(now + 1_000 * seconds).toISOString();

const still = { rowsPerSecond: 0, of: 'now' } as const;
const signs = {
  ...runFacts(),
  delay: undefined,
  isUnserved: false,
  ahead: undefined,
  pace: undefined,
};
const waiting = (changes: Partial<Parameters<typeof waitOf>[0]>) => ({
  wait: waitOf({ ...signs, ...changes }, now),
  pace: changes.pace,
});
const resting = pacedBy({ wait_until: inSeconds(12), reason: 'the API asks to wait' });
const away = { reason: 'Connection refused.', since: inSeconds(-12), gives_up_at: inSeconds(900) };

/** What changes in a run that calls rows. */
export const progressScenes: readonly (readonly [what: string, changes: Partial<RunProgress>])[] = [
  ['rows, outcomes, rate and time left', {}],
  ['no time left at the end', { done: 12_000 }],
  ['no rate', { throughput: undefined }],
  ['an average rate', { throughput: { rowsPerSecond: 2.5, of: 'average' } }],
  ['a rate that stands still', { throughput: still }],
  ['an unlimited rate', { pace: pacedBy({ allowed_per_s: null }) }],
  ['a rate looked for', { pace: pacedBy({ phase: 'searching', reason: 'looking for the API limit' }) }],
  ['a limit', { pace: pacedBy({ phase: 'fixed', limit_per_s: 52.4 }) }],
  ['a rate as the user set it', { pace: pacedBy() }],
  ['a rate that another run bounds', { pace: pacedBy({ bound_by: 'b', reason: 'held to 5/s by run b' }) }],
  ['rows that wait for their next call', { retrying: 3 }],
  ['workers', { workerCount: 2 }],
  ['a wait that the API asks for', waiting({ pace: resting })],
  ['a wait of some minutes', waiting({ pace: { ...resting, wait_until: inSeconds(599) } })],
  [
    'a wait of hours, what asks for it, and the command that ends it',
    waiting({ pace: { ...resting, wait_until: inSeconds(7_200), wait_by: 'Retry-After: 7200' } }),
  ],
  [
    'a wait without a known end',
    waiting({ pace: pacedBy({ phase: 'waiting', reason: 'every call is rejected' }) }),
  ],
  ['an outage', waiting({ pace: { ...resting, phase: 'waiting', wait_until: inSeconds(2), away } })],
  [
    'an outage without an end, tried now',
    waiting({ pace: pacedBy({ phase: 'waiting', away: { ...away, gives_up_at: null } }) }),
  ],
  ['a run that is called first', waiting({ ahead: 'for urgent (priority high), about 40 s' })],
  ['a missing worker', waiting({ isUnserved: true, rateGroup: 'acme' })],
  ['a missing daemon', { ...waiting({ state: 'submitted' }), throughput: undefined }],
  ['a run that was interrupted', { state: 'interrupted', throughput: { rowsPerSecond: 2.5, of: 'average' } }],
  ['a datastore that does not answer', waiting({ delay: 'Redis at r does not answer' })],
  ['a pause', waiting({ state: 'paused' })],
  ['a pause with a reason', waiting({ state: 'paused', pauseReason: 'lunch' })],
  ['calls that stall', { throughput: still, stalled: { calls: 12, oldestMs: 90_000, timeoutMs: 120_000 } }],
  ['a call that stalls', { throughput: still, stalled: { calls: 1, oldestMs: 35_400, timeoutMs: 60_000 } }],
  ['another machine that is not seen', { throughput: undefined, lastSeenAt: inSeconds(-60) }],
  ['no rows', { rows: 0, done: 0 }],
];
