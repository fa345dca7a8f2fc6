import { expect, test } from 'vitest';
import type { DatabaseConnection } from '../../../../src/engine/datastore/embedded/connection.ts';
import { poolOver } from '../../../../src/engine/datastore/embedded/pool.ts';
import { collectGarbage } from '../../../helpers/garbage.ts';

test('the pool lets go of what listens to it: BullMQ never stops, and a daemon has queues for each run', async () => {
  const pool = poolOver({} as DatabaseConnection);
  const listening = (): WeakRef<object> => {
    const listener = (): void => {};
    pool.on('error', listener);
    return new WeakRef(listener);
  };
  const listener = listening();
  await collectGarbage();
  expect(listener.deref()).toBeUndefined();
});
