import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

type Figure = readonly [words: string, path: string, constant: string];

/** What developers' pages say of figures, where the code has them, and as what. */
const figures: Readonly<Record<string, readonly Figure[]>> = {
  'docs/architecture.md': [
    ['up to 250 rows', 'src/engine/run/feed/feed-window.ts', 'maxBatchRows = 250;'],
    ['a lock of 20 s', 'src/engine/queue/bullmq.ts', 'lockMs = 20_000;'],
    ['20 to 30 s later', 'src/engine/queue/bullmq.ts', 'stalledInterval: 5_000,'],
    ['after a second from its ledger', 'src/engine/queue/open-batch.ts', 'readAfterMs = 1_000;'],
    ['never two seconds behind', 'src/engine/run/feed/coordinator.ts', 'refreshMs = 500;'],
    ['every 30 s', 'src/engine/queue/batch-queue.ts', 'usualCompareMs = 30_000;'],
    ['the last 25 batches', 'src/engine/queue/batch-flow.ts', 'keptBatches = 25;'],
    ['half a lock', 'src/engine/queue/ledger/ledger-writer.ts', 'lockMs / 2'],
    ['five such calls', 'src/engine/worker/breaker/early-calls.ts', 'mostUnclearCalls = 5;'],
    ['the next 500 requests', 'src/engine/run/record/run-rows.ts', 'checkedRows = 500;'],
    ['after a minute of silence', 'src/base/disk/lock-holder.ts', 'staleAfterMs = 60_000;'],
    ['after ten refusals', 'src/engine/worker/other-rows.ts', 'refusals: { refusals: 10,'],
    ['fails after five', 'src/engine/worker/other-rows.ts', 'failures: { refusals: 5,'],
    ['a lease of two seconds', 'src/engine/cluster/timeline.ts', 'leaseMs = 2_000;'],
    ['expire after two seconds', 'src/engine/cluster/timeline.ts', 'rateTtlMs = 2_000;'],
    ['portions of a thousand', 'src/engine/report/html/row-packs.ts', 'portionRows = 1_000;'],
  ],
  'docs/rate-inside.md': [
    ['ten times a second', 'src/engine/rate/leader-loop.ts', 'beatMs = 100;'],
    ['each reports every half second', 'src/engine/rate/leader-loop.ts', 'beatPerCallerMs = 1;'],
    ['at most 24 hours', 'src/engine/rate/governor/governor.ts', 'longestWaitMs = 86_400_000;'],
    ['a waiting time of up to 3 s', 'src/engine/rate/governor/quota-exhaustion.ts', 'longWaitMs = 3_000;'],
    ['1.4 % less', 'src/engine/rate/governor/stated-pace.ts', 'caution = 0.986;'],
    ['2.4 % less', 'src/engine/rate/governor/stated-pace.ts', 'jitterMs = 25;'],
    ['a second before the reset', 'src/engine/rate/governor/stated-pace.ts', 'spareMs = 1_000;'],
    ['twice as long', 'src/engine/rate/governor/concurrency-limit.ts', 'risenTimes = 2;'],
    ['and 100 ms longer', 'src/engine/rate/governor/concurrency-limit.ts', 'risenByMs = 100;'],
    ['by 1 %', 'src/engine/rate/governor/stated-pace.ts', 'lowered = 0.99;'],
    ['at most by 5 %', 'src/engine/rate/governor/stated-pace.ts', 'lowest = 0.95;'],
    ['for five minutes', 'src/engine/rate/governor/stated-pace.ts', 'forgivenMs = 300_000;'],
    ['four such refusals', 'src/engine/rate/governor/stated-pace.ts', 'contradictions = 4;'],
    ['within ten seconds', 'src/engine/rate/governor/stated-pace.ts', 'contradictionsWithinMs = 10_000;'],
    ['ignored for a minute', 'src/engine/rate/governor/probe-backoff.ts', 'firstBackoffMs = 60_000;'],
    ['up to an hour', 'src/engine/rate/governor/probe-backoff.ts', 'longestBackoffMs = 3_600_000;'],
    ['after 14 s', 'src/engine/rate/governor/probe-backoff.ts', 'firstProbeMs = 14_000;'],
    ['and 150 calls', 'src/engine/rate/governor/probe-backoff.ts', 'callsPerProbe = 150;'],
    ['after 24 waits', 'src/engine/rate/governor/probe-backoff.ts', 'waits = 24;'],
    ['up to 50 waits', 'src/engine/rate/governor/probe-backoff.ts', 'mostWaits = 50;'],
    [
      'at most 10 s apart',
      'src/engine/rate/governor/quota-exhaustion.ts',
      'longestPauseInFirstMinuteMs = 10_000;',
    ],
    ['at least every 5 minutes', 'src/engine/rate/governor/quota-exhaustion.ts', 'longestPauseMs = 300_000;'],
    ['at most ten minutes', 'src/engine/rate/governor/quota-exhaustion.ts', 'longestSpreadMs = 600_000;'],
    ['until ten calls are accepted', 'src/engine/rate/governor/comparison.ts', 'enough = 10;'],
    ['(or 4 and', 'src/engine/rate/governor/comparison.ts', 'someAccepted = 4;'],
    ['and 40)', 'src/engine/rate/governor/comparison.ts', 'manyFailed = 40;'],
    ['60 % of the accepted rate', 'src/engine/rate/governor/comparison.ts', 'ofAccepted = 0.6;'],
    ['(75 % if', 'src/engine/rate/governor/comparison.ts', 'ofAcceptedWhereLearned = 0.75;'],
    ['90 % if', 'src/engine/rate/governor/comparison.ts', 'leastOfLearned = 0.9;'],
    ['200 times as likely', 'src/engine/rate/governor/comparison.ts', 'certain = 5.3;'],
    ['No accepted call for 3 s', 'src/engine/rate/governor/comparison.ts', 'dryMs = 3_000;'],
    ['20 s at one rate', 'src/engine/rate/governor/comparison.ts', 'longestMs = 20_000;'],
    [
      'compares again: after a minute',
      'src/engine/rate/governor/rate-dependence.ts',
      'compareAgainMs = 60_000;',
    ],
    ['after 10 s far below', 'src/engine/rate/governor/rate-dependence.ts', 'farCompareAgainMs = 10_000;'],
    ['refused five times', 'src/engine/worker/judge.ts', 'mostRefusals = 5;'],
    ['tried for 100 calls', 'src/engine/rate/governor/stray-refusals.ts', 'triedCalls = 100;'],
    ['five single refusals', 'src/engine/rate/governor/stray-refusals.ts', 'severalRefused = 5;'],
    ['the rate to 60 %', 'src/engine/rate/governor/stray-refusals.ts', 'farBelow = 0.6;'],
    ['three refusals come', 'src/engine/rate/governor/stray-refusals.ts', 'severalContradictions = 3;'],
    ['below 70 %', 'src/engine/rate/governor/stray-refusals.ts', 'contradicting = 0.7;'],
    ['15 % more calls', 'src/engine/rate/governor/stray-refusals.ts', 'clearlyMore = 1.15;'],
    ['up to 100 ms ahead', 'src/engine/rate/call-scheduler.ts', 'aheadMs = 100;'],
    ['a fifth of its places', 'src/engine/rate/call-scheduler.ts', 'placesPerVisit = 0.2;'],
    ['20 times a second', 'src/engine/rate/call-scheduler.ts', 'visitMs = 50;'],
    ['about 2,000 times', 'src/engine/rate/call-scheduler.ts', 'visitPerCallerMs = 0.5;'],
    ['within 5 ms', 'src/engine/cluster/timeline.ts', 'leastGraceMs = 5;'],
    ['keeps its place for a second', 'src/engine/cluster/timeline.ts', 'placeTurnMs = 1_000;'],
    ['silent for two seconds', 'src/engine/cluster/timeline.ts', 'silentAfterMs = 2_000;'],
  ],
};

describe.each(Object.entries(figures))('%s', (page, lines) => {
  test.each(lines)('says "%s", as %s does: %s', async (words, path, constant) => {
    expect((await readFile(page, 'utf8')).replaceAll(/\s+/g, ' ')).toContain(words);
    expect(await readFile(path, 'utf8')).toContain(constant);
  });
});
