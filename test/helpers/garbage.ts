import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Afterwards, a `WeakRef` has its object only if something else has it. */
export async function collectGarbage(): Promise<void> {
  // Until the end of the task that made a `WeakRef`, the object stays.
  await new Promise(setImmediate);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
