import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Memory of earlier tests is released in the tasks after a collection, not always after the first one. */
const quietRounds = 3;

/** Bytes of typed arrays in use by this thread, once that many collections in a row have released none. */
async function usedByArrays(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let used = Number.POSITIVE_INFINITY;
  let quiet = 0;
  while (quiet < quietRounds) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
    const { arrayBuffers } = process.memoryUsage();
    quiet = arrayBuffers < used ? 0 : quiet + 1;
    used = arrayBuffers;
  }
  return used;
}

const rows = 100_000;

/** Bytes of typed arrays that each of many rows takes, numbered from 1. */
export async function bytesOfRow(add: (row: number) => void): Promise<number> {
  const before = await usedByArrays();
  for (let row = 1; row <= rows; row++) add(row);
  return ((await usedByArrays()) - before) / rows;
}
