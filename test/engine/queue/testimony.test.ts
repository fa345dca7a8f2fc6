import { expect, test } from 'vitest';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import { type Testimony, Witness } from '../../../src/engine/queue/testimony.ts';
import { collectGarbage } from '../../helpers/garbage.ts';

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
const always = () => true;

test('a worker says what it handed over lately: the datastore may have forgotten it before it was read', async () => {
  const { witness, restarted } = begun();
  const ids = Array.from({ length: 30 }, (_, index) => `batch ${index + 1}`);
  for (const id of ids) {
    witness.began(id, 'one', always);
    witness.ended(id, value);
    witness.handedOver(id, true);
  }
  const testimony = await restarted();
  expect(testimony?.epoch).toBe('two');
  expect(Object.entries(testimony?.batches ?? {})).toEqual(
    ids.map((id, index) => [id, index < 5 ? null : value]),
  );
});

test('a worker testifies only when it has no batch of another epoch in hand any more', async () => {
  const { witness, restarted, last } = begun();
  witness.began('a', 'one', always);
  witness.began('b', 'one', always);
  witness.ended('a', value);
  expect(await restarted()).toMatchObject({ epoch: 'one' });
  witness.ended('b', value);
  expect(last()).toEqual({ epoch: 'two', batches: { a: value, b: value } });
});

test('a worker says of which batches it may not have been the last', async () => {
  const { witness, restarted } = begun();
  const held = { accepted: true, refused: true, lost: true, kept: true };
  for (const id of ['accepted', 'refused', 'lost', 'kept'] as const) {
    witness.began(id, 'one', () => held[id]);
    witness.ended(id, value);
  }
  // After it was handed over, a batch has no lock.
  Object.assign(held, { accepted: false, lost: false });
  witness.handedOver('accepted', true);
  witness.handedOver('refused', false);
  const doubtful = { ...value, isFound: true };
  expect((await restarted())?.batches).toEqual({
    accepted: value,
    refused: doubtful,
    lost: doubtful,
    kept: value,
  });
});

test('a lock that ends after the datastore has restarted does not count', async () => {
  const { witness, restarted, last } = begun();
  let isHeld = true;
  witness.began('a', 'one', () => isHeld);
  await restarted();
  isHeld = false;
  witness.ended('a', value);
  expect(last()?.batches).toEqual({ a: value });
});

test('a batch that was handed over takes no memory: a worker has thousands', async () => {
  const { witness } = begun();
  const handedOver = (id: string): WeakRef<object> => {
    const lock = { isHeld: true };
    witness.began(id, 'one', () => lock.isHeld);
    witness.ended(id, value);
    witness.handedOver(id, true);
    return new WeakRef(lock);
  };
  const locks = ['a', 'b', 'c'].map(handedOver);
  await collectGarbage();
  expect(locks.map((lock) => lock.deref())).toEqual([undefined, undefined, undefined]);
  witness.close();
});
