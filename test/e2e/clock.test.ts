import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { startCqbatch } from '../helpers/cqbatch.ts';
import { describeWithFaketime, fakedClock } from '../helpers/faked-clock.ts';
import { type Observed, observe } from '../helpers/observed.ts';
import { adminOf, describeWithRedis, redisForTest } from '../helpers/redis-server.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type AgreementOptions, expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

const rows = 250;
const slowly = ['--yes', '--rate', '100/s'];
/** No test takes that long, and the clock is set by much more. */
const mostSeconds = 600;

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

/** Sets the clock back by an hour, and forward, while a run is in progress. */
async function setDuring({ sandbox, clock }: Awaited<ReturnType<typeof prepared>>): Promise<void> {
  for (const [requests, offset] of [
    [60, -3_600],
    [180, 3_600],
  ] as const) {
    await sandbox.requested(requests);
    await clock.set(offset);
  }
}

/** Nothing was lost or repeated, and what the clock was set by does not count as duration. */
async function expectUndisturbed(
  { cwd, sandbox }: Awaited<ReturnType<typeof prepared>>,
  options: AgreementOptions = {},
): Promise<void> {
  const log = await sandbox.log();
  const folder = await newestRunFolder(cwd);
  const report = await readCsv(folder, 'report.csv');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log, options);
  expect(report.every((row) => row['_outcome'] === 'succeeded')).toBe(true);
  const { duration_s: duration } = await readSummary(folder);
  expect(duration).toBeGreaterThan(0);
  expect(duration).toBeLessThan(mostSeconds);
}

describeWithFaketime('a clock that is set', () => {
  test('in the middle of a run delays, loses and repeats no call', async () => {
    const place = await prepared();
    const run = place.start('run', 'rows.csv', ...slowly);
    await setDuring(place);
    expect(await run.end).toMatchObject({ code: 0 });
    await expectUndisturbed(place);
  });

  test('between kills does not stop the next process, and does not count as duration', async () => {
    const place = await prepared(anyDatastore());
    const { sandbox, clock, start } = place;
    const step = async (requests: number, ...args: readonly string[]): Promise<void> => {
      const run = start(...args);
      await sandbox.requested(requests);
      run.kill('SIGKILL');
      await run.end;
    };
    await step(60, 'run', 'rows.csv', ...slowly);
    await clock.set(-3_600);
    await step(120, 'resume');
    await clock.set(3_600);
    expect(await start('resume').end).toMatchObject({ code: 0 });
    await expectUndisturbed(place, { killed: true });
  });
});

describeWithFaketime('on Redis, a clock that is set', () => {
  describeWithRedis('there or here', () => {
    test('delays, loses and repeats no call', async () => {
      const redis = await redisForTest();
      const place = await prepared({ CQBATCH_QUEUE: redis.url });
      const run = place.start('run', 'rows.csv', ...slowly);
      await setDuring(place);
      // What the timeline becomes when Redis' own clock is set back by an hour; libfaketime does not work there.
      const admin = adminOf(redis);
      const [timeline = ''] = await admin.keys('*:timeline');
      expect(timeline).not.toBe('');
      const ahead = Date.now() + 3_600_000;
      await admin.hset(timeline, { next: ahead, until: ahead, restUntil: ahead, leadUntil: ahead });
      expect(await run.end).toMatchObject({ code: 0 });
      await expectUndisturbed(place);
    });
  });
});
