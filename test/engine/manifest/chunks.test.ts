import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkUtf8 } from '../../../src/engine/manifest/text/source.ts';
import { anyCharacter } from '../../any-character.ts';
import { inChunks } from './reading.ts';

test('checked UTF-8 is cut between characters only, and is complete', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: anyCharacter, minLength: 1 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, size) => {
        const parts: string[] = [];
        for await (const chunk of checkUtf8(inChunks(Buffer.from(text), size))) parts.push(chunk.toString());
        expect(parts.join('')).toBe(text);
      },
    ),
  );
});

test('the first byte that is not UTF-8 is found wherever chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('ff', 'c0af', 'eda080', 'e282', 'f0808080', '80', 'f4908080', 'c3'),
      fc.string(),
      fc.integer({ min: 1, max: 9 }),
      async (before, invalid, after, size) => {
        const start = Buffer.from(before);
        const bytes = Buffer.concat([start, Buffer.from(invalid, 'hex'), Buffer.from(after)]);
        const read = async () => {
          for await (const _ of checkUtf8(inChunks(bytes, size)));
        };
        await expect(read()).rejects.toMatchObject({ at: start.length });
      },
    ),
  );
});
