import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that start processes, servers or a datastore. The others are unit tests. */
const systemTests = [
  'test/{deployment,e2e,library,engine/{cluster,datastore,queue}}/**/*.test.ts',
  // A thread that ends would close the descriptors of its pipes again, which by then belong to others.
  'test/engine/manifest/input.test.ts',
];

/** Unit tests that each take many seconds of CPU: most search for something. */
const longSearches = [
  'test/engine/list/large-page.test.ts',
  'test/engine/run/verify/verify-run.test.ts',
  'test/engine/manifest/{open-errors,round-trip}.test.ts',
  'test/engine/rate/slots.test.ts',
];

/** Unit tests that replace modules. For others in their process, these would stay replaced. */
const replacing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith('.test.ts') && /^vi\.mock\(/m.test(readFileSync(path, 'utf8')));

/** The system tests of `npm test`: what a change can break that does not take minutes to show. `npm run test:full` has the others. */
const journeys = [
  'test/e2e/{demo,doctor,exit-codes,first-run,init,kill,one-row,output,own-operations,plan-file,report-page,terminal}.test.ts',
  'test/e2e/redis/workers.test.ts',
  'test/engine/{cluster,queue}/**/!(lost-keys).test.ts',
  'test/engine/datastore/{rate-group,embedded/{connection,pool,template},redis/{address,attempt,backend,client,failover,failure,info,trouble}}.test.ts',
  'test/engine/manifest/input.test.ts',
];

/** The package as users install it, and the rate in simulated time. */
const releaseTests = 'test/{bench,install}/**/*.test.ts';

/** These take the longest, mostly waiting. Started last, one of them would run alone. */
const longest =
  /\/e2e\/(redis\/(away|control|forgotten|guards|in-order|kill|rate|upgrade|workers)|(audit|compare-kills|cron|dashboard|exactness|faults|guards|inbox|kill|rate|remedies|report-page|schedule|target)[.-])[^/]*|datastore\/embedded\.test\.ts$/;

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

const withProcesses = {
  // Most of the time they wait for calls, locks and other processes.
  maxWorkers: 8,
  globalSetup: ['test/helpers/build.ts', 'test/helpers/install-debian.ts', 'test/helpers/shared-redis.ts'],
  ...inProcesses,
};

export default defineConfig({
  // The simulation of the benchmarks uses the built program; in tests it uses the sources.
  resolve: { alias: [{ find: /^(?:\.\.\/)+dist\/(.*)\.js$/, replacement: `${process.cwd()}/$1.ts` }] },
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
          exclude: [...systemTests, ...longSearches, ...replacing, releaseTests],
          pool: 'threads',
          // They leave nothing behind that another test could meet.
          isolate: false,
          // Each has its own copy of the sources.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'replacing',
          include: replacing,
          pool: 'threads',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'journeys',
          include: journeys,
          ...withProcesses,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: [...systemTests, ...longSearches],
          exclude: journeys,
          ...withProcesses,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: [releaseTests],
          sequence: { groupOrder: 4 },
          globalSetup: ['test/helpers/build.ts'],
          ...inProcesses,
        },
      },
    ],
  },
});
