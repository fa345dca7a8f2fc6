import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that start processes, servers or a datastore. The others are unit tests. */
const systemTests = [
  'test/{deployment,e2e,library,engine/{cluster,datastore,queue}}/**/*.test.ts',
  // A thread that ends would close the descriptors of its pipes again, which by then belong to others.
  'test/engine/manifest/input.test.ts',
];

/** Tests of code that rarely changes, which take long: the package as users install it, and the rate in simulated time. */
const releaseTests = 'test/{bench,install}/**/*.test.ts';

/** These take the longest, mostly waiting. Started last, one of them would run alone. */
const longest =
  /\/e2e\/(redis\/(audit|control|guards|in-order|kill|rate|workers)|(audit|cron|dashboard|defaults|exactness|faults|guards|inbox|kill|rate|report-page|schedule|target)[.-])[^/]*|datastore\/embedded\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(longest.test(b.moduleId)) - Number(longest.test(a.moduleId)));
  }
}

const memory = '/dev/shm';
const enoughBytes = 2e9;

/** Where Linux has enough memory for a disk in it, tests keep their files there: their many syncs make disks slow. */
function keepFilesInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < enoughBytes) return;
  const folder = mkdtempSync(`${memory}/cqbatch-tests-`);
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

keepFilesInMemory();

/** See helpers/cqbatch.ts for the arguments. These processes live long enough to gain from optimized JavaScript. */
const inProcesses = {
  pool: 'forks' as const,
  isolate: false,
  execArgv: ['--liftoff-only', '--single-threaded-gc'],
};

const globalSetup = [
  'test/helpers/build.ts',
  'test/helpers/install-debian.ts',
  'test/helpers/shared-redis.ts',
];

export default defineConfig({
  test: {
    root: '.',
    sequence: { sequencer: LongestFirst },
    // No test reaches these unless it hangs, even on a slow and busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...systemTests, releaseTests],
          pool: 'threads',
          // They leave nothing behind that another test could meet.
          isolate: false,
          // Some of them wait for a time-out or a clock.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: systemTests,
          // Most of the time they wait for calls, locks and other processes.
          maxWorkers: 8,
          sequence: { groupOrder: 2 },
          globalSetup,
          ...inProcesses,
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: [releaseTests],
          sequence: { groupOrder: 3 },
          globalSetup: ['test/helpers/build.ts'],
          ...inProcesses,
        },
      },
    ],
  },
});
