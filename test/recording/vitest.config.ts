import { defineConfig } from 'vitest/config';

/** `npm run recording`: draws docs/images/recording.svg from a real session at a terminal. */
export default defineConfig({
  test: {
    root: '.',
    include: ['test/recording/record.ts'],
    testTimeout: 300_000,
  },
});
