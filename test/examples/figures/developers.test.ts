import { staleAfterMs } from '../../../src/base/disk/lock-holder.ts';
import {
  leaseMs,
  leastGraceMs,
  rateTtlMs,
  seatTurnMs,
  silentAfterMs,
} from '../../../src/engine/cluster/timeline.ts';
import { keptBatches } from '../../../src/engine/queue/batch-flow.ts';
import { lockMs, stallOptions } from '../../../src/engine/queue/bullmq.ts';
import { outdatedAfterMs } from '../../../src/engine/queue/ledger/ledger-writer.ts';
import { renewAfterMs } from '../../../src/engine/queue/lock-renewal.ts';
import { longestSpreadMs, longWaitMs } from '../../../src/engine/rate/governor/quota-exhaustion.ts';
import { certainFault } from '../../../src/engine/worker/other-rows.ts';
import { constant, type PageFigure, testFigures } from './figures.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

function percent(share: number): number {
  return Number((100 * share).toFixed(1));
}

type Sentence = PageFigure[2];

const architecture: readonly (readonly [figure: number, sentence: Sentence])[] = [
  [constant('engine/run/feed/feed-window', 'maxBatchRows'), (n) => `up to ${n} rows for one worker`],
  [lockMs / second, (n) => `under a lock of ${n} s`],
  // Renewed just before the kill, or as long ago as possible.
  [(lockMs - renewAfterMs + stallOptions.stalledInterval) / second, (n) => `${n} to 30 s later`],
  [(lockMs + 2 * stallOptions.stalledInterval) / second, (n) => `20 to ${n} s later`],
  [constant('engine/queue/open-batch', 'readAfterMs') / second, (n) => `after ${n} second from its ledger`],
  [
    Math.ceil(
      (constant('engine/queue/open-batch', 'readAfterMs') +
        constant('engine/run/feed/coordinator', 'refreshMs')) /
        second,
    ),
    (n) => `the journal is never ${n} seconds behind`,
  ],
  [
    constant('engine/queue/batch-queue', 'usualCompareMs') / second,
    (n) => `every ${n} s, the coordinator withdraws`,
  ],
  [keptBatches, (n) => `the last ${n} batches`],
  [outdatedAfterMs / lockMs, (n) => `longer than ${n} a lock's lifetime`],
  [constant('engine/worker/breaker/early-calls', 'mostUnclearCalls'), (n) => `after ${n} such calls`],
  [constant('engine/run/record/run-rows', 'checkedRows'), (n) => `the next ${n} requests`],
  [staleAfterMs / minute, (n) => `after ${n} minute of silence`],
  [certainFault.refusals.refusals, (n) => `fails after ${n} refusals while others are accepted`],
  [certainFault.failures.refusals, (n) => `the service fails with the same text fails after ${n}`],
  [leaseMs / second, (n) => `under a lease of ${n} seconds`],
  [rateTtlMs / second, (n) => `expire after ${n} seconds`],
  [constant('engine/report/html/row-packs', 'portionRows'), (n) => `portions of ${n}`],
];

const governor = 'engine/rate/governor';
const statedPace = `${governor}/stated-pace`;
const concurrency = `${governor}/concurrency-limit`;
const backoff = `${governor}/probe-backoff`;
const quota = `${governor}/quota-exhaustion`;
const comparison = `${governor}/comparison`;
const dependence = `${governor}/rate-dependence`;
const strays = `${governor}/stray-refusals`;
const leader = 'engine/rate/leader-loop';
const scheduler = 'engine/rate/call-scheduler';

const rateInside: readonly (readonly [figure: number, sentence: Sentence])[] = [
  [second / constant(leader, 'beatMs'), (n) => `${n} times a second, and at once after a refusal`],
  [
    (500 * constant(leader, 'beatPerCallerMs')) / second,
    (n) => `500 workers, each reports every ${n} second`,
  ],
  [constant(`${governor}/governor`, 'longestWaitMs') / hour, (n) => `at most ${n} hours`],
  [longWaitMs / second, (n) => `a waiting time of up to ${n} s`],
  [longWaitMs / second, (n) => `A wait of more than ${n} s means`],
  [longWaitMs / second, (n) => `Waits of more than ${n} s always`],
  [percent(1 - constant(statedPace, 'caution')), (n) => `over the window: ${n} % less`],
  [percent(1 - second / (second + constant(statedPace, 'jitterMs'))), (n) => `or ${n} % less if the window`],
  [constant(statedPace, 'spareMs') / second, (n) => `used up ${n} second before the reset`],
  [constant(concurrency, 'risenTimes'), (n) => `calls that take ${n} as long`],
  [constant(concurrency, 'risenByMs'), (n) => `and ${n} ms longer`],
  [percent(1 - constant(statedPace, 'lowered')), (n) => `lowers the rate by ${n} %`],
  [percent(1 - constant(statedPace, 'lowest')), (n) => `at most by ${n} %`],
  [constant(statedPace, 'forgivenMs') / minute, (n) => `for ${n} minutes)`],
  [constant(statedPace, 'contradictions'), (n) => `After ${n} such refusals`],
  [constant(statedPace, 'contradictionsWithinMs') / second, (n) => `such refusals within ${n} seconds`],
  [constant(backoff, 'firstBackoffMs') / minute, (n) => `ignored for ${n} minute`],
  [constant(backoff, 'longestBackoffMs') / hour, (n) => `for longer, up to ${n} hour`],
  [constant(backoff, 'firstProbeMs') / second, (n) => `a higher rate, after ${n} s`],
  [constant(backoff, 'callsPerProbe'), (n) => `and ${n} calls`],
  [constant(backoff, 'waits'), (n) => `probes come after ${n} waits`],
  [constant(backoff, 'mostWaits'), (n) => `up to ${n} waits`],
  [constant(quota, 'longestPauseInFirstMinuteMs') / second, (n) => `at most ${n} s apart`],
  [constant(quota, 'longestPauseMs') / minute, (n) => `at least every ${n} minutes`],
  [longestSpreadMs / minute, (n) => `a window of at most ${n} minutes`],
  [constant(comparison, 'enough'), (n) => `until ${n} calls are accepted`],
  [constant(comparison, 'enough'), (n) => `accepted and ${n} have failed`],
  [constant(comparison, 'someAccepted'), (n) => `(or ${n} and`],
  [constant(comparison, 'manyFailed'), (n) => `and ${n})`],
  [percent(constant(comparison, 'ofAccepted')), (n) => `${n} % of the accepted rate`],
  [percent(constant(comparison, 'ofAcceptedWhereLearned')), (n) => `(${n} % if a limit was learned before`],
  [percent(constant(comparison, 'leastOfLearned')), (n) => `${n} % if about this limit`],
  [Math.round(Math.exp(constant(comparison, 'certain'))), (n) => `${n} times as likely`],
  [constant(comparison, 'dryMs') / second, (n) => `No accepted call for ${n} s`],
  [constant(comparison, 'longestMs') / second, (n) => `${n} s at one rate`],
  [constant(dependence, 'compareAgainMs') / minute, (n) => `compares again: after ${n} minute`],
  [constant(dependence, 'farCompareAgainMs') / second, (n) => `after ${n} s far below`],
  [constant('engine/worker/judge', 'mostRefusals'), (n) => `refused ${n} times`],
  [constant(strays, 'triedCalls'), (n) => `tried for ${n} calls`],
  [constant(strays, 'severalRefused'), (n) => `when ${n} single refusals`],
  [percent(constant(strays, 'farBelow')), (n) => `lowered the rate to ${n} %`],
  [constant(strays, 'severalContradictions'), (n) => `when ${n} refusals come`],
  [percent(constant(strays, 'contradicting')), (n) => `below ${n} % of the calls accepted`],
  [percent(constant(strays, 'clearlyMore') - 1), (n) => `${n} % more calls`],
  [constant(scheduler, 'aheadMs'), (n) => `up to ${n} ms ahead`],
  [constant(scheduler, 'seatsPerVisit'), (n) => `${n} of its seats`],
  [second / constant(scheduler, 'visitMs'), (n) => `visits the timeline ${n} times a second`],
  [second / constant(scheduler, 'visitPerCallerMs'), (n) => `all workers together about ${n} times`],
  [leastGraceMs, (n) => `leave within ${n} ms`],
  [seatTurnMs / second, (n) => `keeps its seat for ${n} second`],
  [silentAfterMs / second, (n) => `silent for ${n} seconds`],
];

testFigures([
  ...architecture.map((figure) => ['architecture', ...figure] as const),
  ...rateInside.map((figure) => ['rate-inside', ...figure] as const),
]);
