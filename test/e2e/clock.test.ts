import { expect, test } from 'vitest';
import { describeWithFaketime, fakedClock } from '../helpers/faked-clock.ts';
import { adminOf, describeWithRedis, redisForTest } from '../helpers/redis-server.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { kindSandbox } from './redis/machine.ts';

const rows = 250;
const slowly = ['--yes', '--rate', '100/s'];
/** No test takes that long, and the clock is set by much more. */
const mostSeconds = 600;

/** A folder with a manifest, a sandbox of which some calls must be repeated, and a clock for what is started. */
async function prepared(setting: Readonly<Record<string, string>> = {}) {
  const clock = await fakedClock();
  const faulty = [...kindSandbox, '--latency', '20ms', '--fault', '503=5%'];
  const env = { ...clock.env, CQBATCH_BACKOFF: '300ms', ...setting };
  return { ...(await newHome(rows, faulty, env)), clock };
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
async function expectUndisturbed({ cwd, sandbox }: Awaited<ReturnType<typeof prepared>>): Promise<void> {
  const log = await sandbox.log();
  const folder = await newestRunFolder(cwd);
  const report = await readCsv(folder, 'report.csv');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log);
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
