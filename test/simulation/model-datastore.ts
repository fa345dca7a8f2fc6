import type { Datastore } from '../../src/engine/datastore/datastore.ts';
import { type ModelConnection, modelBackend } from './model-backend.ts';
import type { QueueModel } from './queue-model.ts';
import type { Marker } from './waiters.ts';

/** The model as a shared datastore in real time, with the given connections. */
export function modelDatastore(connection: ModelConnection, producerConnection = connection): Datastore {
  return {
    description: 'the model',
    connection,
    producerConnection,
    backend: modelBackend,
    exclusive: false,
    trouble: undefined,
    lost: new AbortController().signal,
    epoch: async () => 'one',
    connectionEpoch: 'one',
    onReconnect: () => () => {},
    async renew() {},
    async maintain() {},
    async close() {},
  };
}

/** A connection on which nothing is late or lost. */
export function connectionTo(model: QueueModel): ModelConnection {
  return {
    async ask(script) {
      await new Promise((resolve) => setImmediate(resolve));
      const reply = structuredClone(script(model));
      await new Promise((resolve) => setImmediate(resolve));
      return reply;
    },
    waitForMarker(queue, limitMs) {
      let cancel = (): void => {};
      const marker = new Promise<Marker | null>((resolve) => {
        const timer = setTimeout(() => cancel(), limitMs);
        const forget = model.waitForMarker(queue, (woken) => {
          clearTimeout(timer);
          resolve(woken);
        });
        cancel = () => {
          clearTimeout(timer);
          forget();
          resolve(null);
        };
      });
      return { marker, cancel: () => cancel() };
    },
  };
}
