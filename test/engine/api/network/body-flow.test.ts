import { Writable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyFlow } from '../../../../src/engine/api/network/body-flow.ts';
import { decodeContent } from '../../../../src/engine/api/network/content-encoding.ts';

const freely = { pause() {}, resume() {} } as unknown as Parameters<BodyFlow['write']>[1];

/** What the flow passes on, in chunks of this size, or its problem. */
async function passedOn(bytes: Buffer, encoding: string, chunkSize: number): Promise<string> {
  const parts: Buffer[] = [];
  const target = new Writable({
    write(chunk: Buffer, _encoding, done) {
      parts.push(chunk);
      done();
    },
  });
  const flow = new BodyFlow(target, encoding);
  for (let at = 0; at < bytes.length; at += chunkSize) flow.write(bytes.subarray(at, at + chunkSize), freely);
  const problem = await flow.end();
  return problem?.kind ?? Buffer.concat(parts).toString('latin1');
}

const encodings = ['gzip', 'x-gzip', 'br', 'deflate', 'identity', '', 'zstd'];
const compress: readonly ((bytes: Buffer) => Buffer)[] = [
  (bytes) => gzipSync(bytes),
  (bytes) => brotliCompressSync(bytes),
  (bytes) => deflateSync(bytes),
  (bytes) => deflateRawSync(bytes),
  (bytes) => bytes,
];

test('a body in parts is decoded like a body as a whole, whatever encodings it has and names', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.array(fc.constantFrom(...compress), { maxLength: 3 }),
      fc.array(fc.constantFrom(...encodings), { maxLength: 4 }),
      fc.integer({ min: 2, max: 400 }),
      async (content, made, named, chunkSize) => {
        const bytes = made.reduce<Buffer>((encoded, encode) => encode(encoded), Buffer.from(content));
        const encoding = named.join(', ');
        const whole = decodeContent(bytes, encoding, 1 << 20);
        const expected = whole.ok ? whole.bytes.toString('latin1') : whole.problem.kind;
        expect(await passedOn(bytes, encoding, chunkSize)).toBe(expected);
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ['gzip that a proxy has undone', Buffer.from('{"a":1}'), 'gzip'],
  ['raw deflate', deflateRawSync('{"a":1}'), 'deflate'],
  ['two encodings', gzipSync(deflateSync('{"a":1}')), 'deflate, gzip'],
])('%s is passed on', async (_what, bytes, encoding) => {
  expect(await passedOn(bytes, encoding, 3)).toBe('{"a":1}');
  expect(decodeContent(bytes, encoding, 100)).toEqual({ ok: true, bytes: Buffer.from('{"a":1}') });
});
