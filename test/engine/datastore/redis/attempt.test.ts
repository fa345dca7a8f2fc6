import { expect, onTestFinished, test, vi } from 'vitest';
import { parseRedisUrl } from '../../../../src/engine/datastore/redis/address.ts';
import { AnswerLimit, noteReasons } from '../../../../src/engine/datastore/redis/attempt.ts';

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

test('a limit for answers does not pass while the process stands still', async () => {
  const limit = new AnswerLimit(1_000);
  onTestFinished(() => limit.end());
  const passed = vi.fn();
  void limit.passed.then(passed);
  const stall = performance.now() + 1_500;
  while (performance.now() < stall);
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  expect(passed).not.toHaveBeenCalled();
  await expect.poll(() => passed).toHaveBeenCalledOnce();
});
