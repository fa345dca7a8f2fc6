// @ts-check
/** Reference: this many loops, each of which calls one row after the other. If it dies, it is unknown what was done. */
import { plainClient } from './plain-client.js';
import { program } from './program.js';
import { startWatch } from './stopwatch.js';

/** @typedef {{ baseUrl: string, rows: number, concurrency: number }} LoopInput */

await program(async (/** @type {LoopInput} */ { baseUrl, rows, concurrency }) => {
  const client = plainClient(baseUrl, concurrency);
  const watch = startWatch();
  let next = 1;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next <= rows) await client.restore(next++);
    }),
  );
  const speed = watch.speed(rows);
  await client.close();
  return speed;
});
