import { describe, expect, test } from 'vitest';
import { lines, look, restore, restorePath, send, start, update } from './client.ts';

describe('identifiers are exact', () => {
  const ids = [9007199254740993n, 9223372036854775807n];

  test.each(ids)('%d', async (id) => {
    const sandbox = await start({ evaluations: String(id), soundboards: String(id) });
    const restored = await restore(sandbox, String(id));
    expect(restored.status).toBe(200);
    expect(restored.text).toContain(`{"evaluation":{"evaluation_id":${id},`);
    const updated = await update(sandbox, { soundboard_id: id, recording_length: '5' });
    expect(updated.text).toBe(`{"soundboard_id":${id}}`);
    expect((await sandbox.log()).map((entry) => entry.id)).toEqual([String(id), String(id)]);
    expect(lines((await look(sandbox, '/state')).text)).toMatchObject([
      { id: String(id), evaluation: { evaluation_id: id } },
      { id: String(id), soundboard: { soundboard_id: id } },
    ]);
  });

  test('a neighbor that a JavaScript number cannot distinguish is not found', async () => {
    const sandbox = await start({ evaluations: '9007199254740992' });
    expect((await restore(sandbox, 9007199254740993n)).status).toBe(404);
  });

  test('an identifier written as a rounded decimal is refused', async () => {
    const sandbox = await start({ evaluations: '9223372036854775807' });
    expect((await send(sandbox, restorePath, '{"evaluation_id":9.223372036854775807e18}')).status).toBe(400);
  });
});
