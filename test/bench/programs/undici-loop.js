// @ts-check
/** For orientation: so many loops that call one row after the other. When it dies, nobody knows what was done. */
import { plainClient } from './plain-client.js';
import { program } from './program.js';

/** @typedef {{ baseUrl: string, rows: number, concurrency: number }} LoopInput */

await program(async (/** @type {LoopInput} */ { baseUrl, rows, concurrency }) => {
  const client = plainClient(baseUrl, concurrency);
  const start = performance.now();
  let next = 1;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next <= rows) await client.restore(next++);
    }),
  );
  const rowsPerSecond = rows / ((performance.now() - start) / 1_000);
  await client.close();
  return rowsPerSecond;
});
