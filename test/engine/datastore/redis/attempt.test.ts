import { expect, test } from 'vitest';
import { parseRedisUrl } from '../../../../src/engine/datastore/redis/address.ts';
import { noteReasons } from '../../../../src/engine/datastore/redis/attempt.ts';

test('each Sentinel that cannot be reached says why', async () => {
  const said: string[] = [];
  const options = {
    address: parseRedisUrl('redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster'),
    role: 'probe',
    name: 'test',
    mayAskInfo: true,
  } as const;
  await noteReasons(options, ({ message }) => said.push(message));
  expect(said).toEqual([1, 2].map((port) => `connect ECONNREFUSED 127.0.0.1:${port}`));
});
