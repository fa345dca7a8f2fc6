import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    // Many wait for locks to run out most of the time: two files at once, also on two cores.
    maxWorkers: 2,
    hookTimeout: 120_000,
    // See helpers/cqbatch.ts.
    execArgv: ['--liftoff-only'],
    globalSetup: ['test/helpers/build.ts', 'test/helpers/install-debian.ts'],
  },
});
