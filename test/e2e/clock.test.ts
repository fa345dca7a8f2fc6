import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { startCqbatch } from '../helpers/cqbatch.ts';
import { describeWithFaketime, fakedClock } from '../helpers/faked-clock.ts';
import { type Observed, observe } from '../helpers/observed.ts';
import { adminOf, describeWithRedis, redisForTest } from '../helpers/redis-server.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

const rows = 250;
const slowly = ['--yes', '--rate', '100/s'];
/** Longer than a pause on a machine under load, and a third of the shortest jump of the clock. */
const stallSeconds = 10;

/** A folder with a manifest, a sandbox of which some calls must be repeated, and a clock for what is started. */
async function prepared(setting: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  const kind = ['--unrecoverable', '0%', '--not-deleted', '0%'];
  const sandbox = await startSandbox(...kind, '--latency', '20ms', '--fault', '503=5%');
  const clock = await fakedClock();
  const options = { cwd, env: { ...sandbox.env, ...clock.env, CQBATCH_BACKOFF: '300ms', ...setting } };
  return {
    cwd,
    sandbox,
    clock,
    start: (...args: readonly string[]): Observed => observe(startCqbatch(args, options)),
  };
}

/** Seconds from call to call, as the API saw them. */
function gaps(log: readonly LogEntry[]): number[] {
  const times = log.map(({ time }) => Date.parse(time) / 1_000);
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

/** Sets the clock back a little and by an hour, and forward, while a run is going on. */
async function setDuring({ sandbox, clock }: Awaited<ReturnType<typeof prepared>>): Promise<void> {
  for (const [requests, offset] of [
    [60, -30],
    [120, -3_600],
    [180, 3_600],
  ] as const) {
    await sandbox.requested(requests);
    await clock.set(offset);
  }
}

/** Nothing stalled, was lost or was repeated, and the run was at work for as long as it was. */
async function expectUndisturbed(
  { cwd, sandbox }: Awaited<ReturnType<typeof prepared>>,
  elapsedSeconds: number,
): Promise<void> {
  const log = await sandbox.log();
  const folder = await newestRunFolder(cwd);
  const report = await readCsv(folder, 'report.csv');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log);
  expect(report.every((row) => row['_outcome'] === 'succeeded')).toBe(true);
  expect(Math.max(...gaps(log))).toBeLessThan(stallSeconds);
  const calling = gaps(log).reduce((sum, gap) => sum + gap, 0);
  const { duration_s: duration } = await readSummary(folder);
  expect(duration).toBeGreaterThanOrEqual(Math.floor(calling));
  expect(duration).toBeLessThanOrEqual(Math.ceil(elapsedSeconds));
}

describeWithFaketime('a clock that is set', () => {
  test('in the middle of a run delays, loses and repeats no call', async () => {
    const place = await prepared();
    const begin = performance.now();
    const run = place.start('run', 'rows.csv', ...slowly);
    await setDuring(place);
    expect(await run.end).toMatchObject({ code: 0 });
    await expectUndisturbed(place, (performance.now() - begin) / 1_000);
  });

  test('between kills does not stop the next process, and does not count as duration', async () => {
    const { cwd, sandbox, clock, start } = await prepared(anyDatastore());
    let elapsed = 0;
    const step = async (requests: number, ...args: readonly string[]): Promise<void> => {
      const begin = performance.now();
      const run = start(...args);
      await sandbox.requested(requests);
      run.kill('SIGKILL');
      await run.end;
      elapsed += (performance.now() - begin) / 1_000;
    };
    await step(60, 'run', 'rows.csv', ...slowly);
    await clock.set(-3_600);
    await step(120, 'resume');
    await clock.set(3_600);
    const begin = performance.now();
    expect(await start('resume').end).toMatchObject({ code: 0 });
    elapsed += (performance.now() - begin) / 1_000;

    const log = await sandbox.log();
    const folder = await newestRunFolder(cwd);
    const report = await readCsv(folder, 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, log, { killed: true });
    const { duration_s: duration, rows_per_s: rate } = await readSummary(folder);
    expect(duration).toBeGreaterThan(0);
    expect(duration).toBeLessThanOrEqual(Math.ceil(elapsed));
    expect(rate).toBeGreaterThanOrEqual(Math.floor(rows / Math.ceil(elapsed)));
  });
});

describeWithFaketime('on Redis, a clock that is set', () => {
  describeWithRedis('there or here', () => {
    test('delays, loses and repeats no call', async () => {
      const redis = await redisForTest();
      const place = await prepared({ CQBATCH_QUEUE: redis.url });
      const begin = performance.now();
      const run = place.start('run', 'rows.csv', ...slowly);
      await setDuring(place);
      // What the timeline becomes when Redis' own clock is set back by an hour; libfaketime does not work there.
      const admin = adminOf(redis);
      const [timeline = ''] = await admin.keys('*:timeline');
      expect(timeline).not.toBe('');
      const ahead = Date.now() + 3_600_000;
      await admin.hset(timeline, { next: ahead, until: ahead, restUntil: ahead, leadUntil: ahead });
      expect(await run.end).toMatchObject({ code: 0 });
      await expectUndisturbed(place, (performance.now() - begin) / 1_000);
    });
  });
});
