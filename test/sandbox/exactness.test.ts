import { expect, test } from 'vitest';
import { shapes, type TestSandbox } from '../helpers/sandbox.ts';
import { restore, restorePath, send, start } from './client.ts';

test('an identifier that a JavaScript number cannot distinguish from a known one is not found', async () => {
  const sandbox = await start({ evaluations: '9007199254740992' });
  expect((await restore(sandbox, 9007199254740993n)).status).toBe(404);
});

test('an identifier written as a rounded decimal is refused', async () => {
  const sandbox = await start({ evaluations: '9223372036854775807' });
  expect((await send(sandbox, restorePath, '{"evaluation_id":9.223372036854775807e18}')).status).toBe(400);
});

test.each(shapes)(
  'text names any identifier exactly in %s, also where numbers are rounded',
  async (shape) => {
    const sandbox = await start({ shape, numbers: 'rounded', evaluations: '9223372036854775807' });
    expect((await restore(sandbox, '9007199254740993')).status).toBe(200);
    expect((await restore(sandbox, '9223372036854775807')).status).toBe(200);
    expect(await restoredIn(sandbox)).toEqual(['9007199254740993', '9223372036854775807']);
  },
);

test('with rounded numbers, a number above 2^53-1 changes another entry', async () => {
  const sandbox = await start({ numbers: 'rounded', evaluations: '9223372036854775807' });
  expect((await restore(sandbox, 9007199254740993n)).body).toMatchObject({
    evaluation: { evaluation_id: 9007199254740992n },
  });
  expect(await restoredIn(sandbox)).toEqual(['9007199254740992']);
});

async function restoredIn(sandbox: TestSandbox): Promise<readonly string[]> {
  return (await sandbox.log()).filter(({ committed }) => committed).map(({ id }) => String(id));
}
