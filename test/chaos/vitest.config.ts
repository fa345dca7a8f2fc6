import { defineConfig } from 'vitest/config';

/** One round of `npm run chaos`, which `main.js` starts. */
export default defineConfig({
  test: {
    root: '.',
    include: ['test/chaos/round.ts'],
    pool: 'forks',
    reporters: ['dot'],
    // A round finds by itself that there is no progress any more.
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
  },
});
