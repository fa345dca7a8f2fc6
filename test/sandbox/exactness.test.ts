import { expect, test } from 'vitest';
import { restore, restorePath, send, start } from './client.ts';

test('an identifier that a JavaScript number cannot distinguish from a known one is not found', async () => {
  const sandbox = await start({ evaluations: '9007199254740992' });
  expect((await restore(sandbox, 9007199254740993n)).status).toBe(404);
});

test('an identifier written as a rounded decimal is refused', async () => {
  const sandbox = await start({ evaluations: '9223372036854775807' });
  expect((await send(sandbox, restorePath, '{"evaluation_id":9.223372036854775807e18}')).status).toBe(400);
});
