import { expect, test } from 'vitest';
import { restore, start } from './client.ts';

test('it listens on the loopback address and a free port by default', async () => {
  const sandbox = await start();
  expect(sandbox.url).toBe(`http://127.0.0.1:${sandbox.port}`);
  expect(sandbox.port).toBeGreaterThan(0);
});

test('a port in use is a usage error that names the remedy', async () => {
  const { port } = await start();
  await expect(start({ port })).rejects.toMatchObject({
    kind: 'usage',
    code: 'CANNOT_LISTEN',
    message: `port ${port} is in use; choose another one with --port, or any free one with --port 0`,
  });
});

test('an address of another machine is a usage error', async () => {
  const starting = start({ host: '192.0.2.1' });
  await expect(starting).rejects.toMatchObject({ kind: 'usage', code: 'CANNOT_LISTEN' });
});

test('a million evaluations exist without being stored', async () => {
  const sandbox = await start({ evaluations: 1_000_000 });
  expect((await restore(sandbox, 1_000_000)).status).toBe(200);
  expect((await restore(sandbox, 1_000_001)).status).toBe(404);
});
