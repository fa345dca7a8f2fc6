import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import type { PaceReport } from '../../../../src/domain/pace.ts';
import { noOutcomes } from '../../../../src/domain/terms.ts';
import {
  briefOfEntry,
  briefOfRecord,
  factsOfEntry,
  factsOfRecord,
  progressOfWork,
} from '../../../../src/engine/run/facts/make-facts.ts';
import { phraseText, progressPhrases } from '../../../../src/engine/run/facts/progress-words.ts';
import { enterState, withRate } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { RateLog } from '../../../../src/engine/run/work/rate-log.ts';
import { publishedPace, runEntry } from '../../../helpers/cluster-entries.ts';
import { pacedBy } from '../../../helpers/run-facts.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

const pace: PaceReport = {
  rate: 40,
  isKept: true,
  refuses503: false,
  concurrency: 20,
  phase: 'fixed',
  reason: 'as requested',
  accepted: 0,
  rejected: 0,
};

/** A run of 3,000 rows of which 40 a second were called for two minutes, as `status` and the dashboard read it. */
async function embeddedRun() {
  vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const store = openRunStore(join(await temporaryFolder(), '.cqbatch'), operations);
  const { folder } = await store.create('r');
  const plan = { ...plannedRecord.plan, rows: 3_000, callable: 3_000 };
  const record = enterState({ ...plannedRecord, id: 'r', plan, process: thisProcess() }, 'running');
  await store.save(record);
  const log = await RateLog.open(folder, '40/s');
  onTestFinished(() => log.close());
  let done = 0;
  const work = async (seconds: number, perSecond: number) => {
    for (let second = 0; second < seconds; second++) {
      log.see({ ...pace, rate: perSecond, accepted: done });
      for (let row = 0; row < perSecond; row++) log.seeResult({ attempts: 1 });
      done += perSecond;
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };
  const facts = async () => {
    const summary = { done, outcomes: { ...noOutcomes(), succeeded: done }, activeMs: done * 25 };
    return factsOfRecord(store, record, undefined, summary);
  };
  return { work, facts, folder };
}

const timeLeft = (run: Parameters<typeof progressPhrases>[0]) =>
  progressPhrases(run).find(({ name }) => name === 'time left');

test('after another rate was set, the time left follows from the new one at once, then from the last half minute', async () => {
  const { work, facts } = await embeddedRun();
  const throughput = async () => (await facts()).throughput;
  await work(10, 40);
  await expect.poll(throughput).toEqual({ rowsPerSecond: 40, of: 'now' });
  // 429 rows were called; 2,571 are left.
  await work(1, 29);
  await work(1, 8);
  await expect.poll(throughput).toEqual({ rowsPerSecond: 8, of: 'now' });
  expect(phraseText(timeLeft(await facts()) ?? expect.fail())).toBe('5 min 20 s left');
  await work(60, 8);
  await expect.poll(throughput).toEqual({ rowsPerSecond: 8, of: 'now' });
});

test('an average is called one, and is within the allowed rate', async () => {
  const { work, facts, folder } = await embeddedRun();
  await work(10, 40);
  // The file was written: no later write fills it again.
  await expect.poll(async () => (await facts()).throughput).toEqual({ rowsPerSecond: 40, of: 'now' });
  await writeFile(join(folder, 'rate.json'), '');
  const run = await facts();
  expect(run.throughput).toEqual({ rowsPerSecond: 40, of: 'average' });
  expect(phraseText(timeLeft(run) ?? expect.fail())).toBe('1 min 5 s left on average');
});

test('terminal and entries of other machines are within the allowed rate, too', () => {
  const figures = {
    rows: 100,
    done: 20,
    counts: noOutcomes(),
    rowsPerSecond: 40,
    retrying: 0,
    paused: false,
  };
  const own = progressOfWork(
    plannedRecord,
    { ...figures, pace: pacedBy({ allowed_per_s: 8 }), isUnserved: false },
    undefined,
  );
  expect(own.throughput).toEqual({ rowsPerSecond: 8, of: 'now' });
  const entry = runEntry({ rows: 100, rowsPerSecond: 40 });
  const seen = factsOfEntry(entry, { entry, workers: [], pace: publishedPace({ rate: 8 }) });
  expect(seen.throughput).toEqual({ rowsPerSecond: 8, of: 'now' });
});

test('a run says since when its rate is another than at its start, also without a limit', () => {
  const at = '2026-11-29T20:11:00.000Z';
  expect(briefOfRecord(plannedRecord).rateSetAt).toBeUndefined();
  for (const rate of [{ text: '8/s', auto: false, perSecond: 8 }, null])
    expect(briefOfRecord(withRate(plannedRecord, { rate, at }))).toMatchObject({
      wantedRate: rate?.text ?? 'none',
      rateSetAt: at,
    });
  const rate = { text: '8/s', auto: false, perSecond: 8, setAt: at };
  expect(briefOfEntry(runEntry({ rate }))).toMatchObject({ wantedRate: '8/s', rateSetAt: at });
});
