import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { parseRedisUrl } from '../../../../src/engine/datastore/redis/address.ts';
import { watchFailover } from '../../../../src/engine/datastore/redis/failover.ts';
import { collectGarbage } from '../../../helpers/garbage.ts';

test('a watch for another primary ends quietly where no Sentinel was reached', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const address = parseRedisUrl('redis+sentinel://127.0.0.1:1/mymaster');
  watchFailover({ address, role: 'worker', name: 'test', mayAskInfo: false }).close();
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});

test('a watch lets go of a connection that has ended: a daemon opens some for each run', async () => {
  const watch = watchFailover({
    address: parseRedisUrl('redis://a'),
    role: 'worker',
    name: 'test',
    mayAskInfo: false,
  });
  const connected = (): WeakRef<EventEmitter> => {
    const connection = Object.assign(new EventEmitter(), { status: 'ready', disconnect() {} });
    watch.add(connection);
    connection.emit('end');
    return new WeakRef(connection);
  };
  const connection = connected();
  await collectGarbage();
  expect(connection.deref()).toBeUndefined();
  watch.close();
});
