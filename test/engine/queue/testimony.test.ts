import { expect, test } from 'vitest';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import { type Testimony, Witness } from '../../../src/engine/queue/testimony.ts';

/** A worker at a datastore in its first epoch, and what it says in the next one. */
function begun() {
  let changed = (): void => {};
  const datastore = {
    connectionEpoch: 'one',
    onReconnect(listener: () => void) {
      changed = listener;
      return () => {};
    },
  };
  const said: Testimony[] = [];
  const testify = async (testimony: Testimony): Promise<void> => void said.push(testimony);
  const witness = new Witness(datastore as unknown as Datastore, testify, () => {});
  const last = () => said.at(-1);
  return {
    witness,
    last,
    async restarted() {
      // Its first testimony is given.
      await new Promise(setImmediate);
      datastore.connectionEpoch = 'two';
      changed();
      return last();
    },
  };
}

const value = { results: [], leftovers: [] };

test('a worker says what it handed over lately: the datastore may have forgotten it before it was read', async () => {
  const { witness, restarted } = begun();
  const ids = Array.from({ length: 30 }, (_, index) => `batch ${index + 1}`);
  for (const id of ids) {
    witness.began(id, 'one');
    witness.ended(id, value);
    witness.handedOver(id);
  }
  const testimony = await restarted();
  expect(testimony?.epoch).toBe('two');
  expect(Object.entries(testimony?.batches ?? {})).toEqual(
    ids.map((id, index) => [id, index < 5 ? null : value]),
  );
});

test('a worker testifies only when it has no batch of another epoch in hand any more', async () => {
  const { witness, restarted, last } = begun();
  witness.began('a', 'one');
  witness.began('b', 'one');
  witness.ended('a', value);
  expect(await restarted()).toMatchObject({ epoch: 'one' });
  witness.ended('b', value);
  expect(last()).toEqual({ epoch: 'two', batches: { a: value, b: value } });
});
