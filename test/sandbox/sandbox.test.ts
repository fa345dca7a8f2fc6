import { expect, test } from 'vitest';
import { start } from './client.ts';

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
