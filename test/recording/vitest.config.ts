import { defineConfig } from 'vitest/config';

/** `npm run recording` draws docs/images/recording.svg from a real session at a terminal; `npm run pictures` takes pictures of pages. */
export default defineConfig({
  test: {
    root: '.',
    include: ['test/recording/{record,pictures}.ts'],
    testTimeout: 300_000,
    expect: { poll: { timeout: 280_000 } },
  },
});
