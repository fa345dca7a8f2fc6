import { expect, test } from 'vitest';
import { readWhole } from '../../../../src/engine/manifest/json/document.ts';

test('a document is read into memory up to a limit, and the message says what to write beyond it', async () => {
  const chunk = Buffer.alloc(100_000_000, ' ');
  async function* chunks(count: number): AsyncGenerator<Buffer> {
    for (let index = 0; index < count; index += 1) yield chunk;
    yield Buffer.from('[]');
  }
  await expect(readWhole(chunks(10))).rejects.toMatchObject({
    code: 'MANIFEST_TOO_LARGE',
    message: 'the JSON document is larger than 1 GB; write one object on each line (JSON Lines)',
  });
});
