import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeContent } from '../../../../src/engine/api/network/content-encoding.ts';

const mebibyte = 1024 * 1024;
const text = '{"evaluation":{"evaluation_id":1}}';
const plain = Buffer.from(text);

type Compress = (bytes: Buffer) => Buffer;

const forms: Readonly<Record<string, Compress>> = {
  gzip: (bytes) => gzipSync(bytes),
  'x-gzip': (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  identity: (bytes) => bytes,
};

function decoded(bytes: Buffer, encoding: string, maxBytes = 16 * mebibyte): unknown {
  const content = decodeContent(bytes, encoding, maxBytes);
  return content.ok ? content.bytes.toString() : content.problem.kind;
}

describe('a body', () => {
  test.each([
    ['gzip of two members', 'gzip', Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))])],
    ['gzip followed by zeros', 'gzip', Buffer.concat([gzipSync(plain), Buffer.alloc(512)])],
    ['deflate followed by garbage', 'deflate', Buffer.concat([deflateSync(plain), Buffer.from('xyz')])],
    ['gzip that a proxy has undone', 'gzip', plain],
    ['bare deflate', 'deflate', deflateRawSync(plain)],
    ['no encoding with a name', ' , ,', plain],
    ['three encodings', 'deflate,identity,br, gzip', gzipSync(brotliCompressSync(deflateSync(plain)))],
  ])('is what it was before %s', (_title, encoding, bytes) => {
    expect(decoded(bytes, encoding)).toBe(text);
  });

  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, zstd'])(
    'that is empty stays empty, whatever %s says',
    (encoding) => {
      expect(decoded(Buffer.alloc(0), encoding)).toBe('');
    },
  );

  test.each([
    ['unknown', 'zstd', plain],
    ['unknown', 'constructor', plain],
    ['unknown', 'gzip,gzip,gzip,gzip', gzipSync(gzipSync(gzipSync(gzipSync(plain))))],
    ['broken', 'gzip', Buffer.concat([gzipSync(plain), Buffer.from('garbage')])],
    ['broken', 'gzip', Buffer.concat([gzipSync(plain).subarray(0, -8), Buffer.alloc(8)])],
    ['broken', 'gzip, br', gzipSync(plain)],
  ])('is %s: %s (%#)', (kind, encoding, bytes) => {
    expect(decoded(bytes, encoding)).toBe(kind);
  });

  test('is decoded, whatever it is and however it was encoded, and no bytes make it throw', () => {
    const names = fc.array(fc.constantFrom(...Object.keys(forms)), { maxLength: 3 });
    fc.assert(
      fc.property(names, fc.uint8Array({ maxLength: 3_000 }), (encodings, content) => {
        const bytes = Buffer.from(content);
        const encoded = encodings.reduce((wire: Buffer, name) => forms[name]?.(wire) ?? wire, bytes);
        const outcome = decodeContent(encoded, encodings.join(', '), mebibyte);
        expect(outcome.ok && Buffer.compare(outcome.bytes, bytes)).toBe(0);
        const wrong = decodeContent(bytes, encodings.join(', '), mebibyte);
        expect(wrong.ok || wrong.problem.kind).toSatisfy((kind) => kind === true || kind === 'broken');
      }),
    );
  });
});

describe('a body that grows', () => {
  test('a thousandfold is stopped long before it reaches the accepted size', () => {
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(Buffer.alloc(3 * mebibyte))],
      ['br', brotliCompressSync(Buffer.alloc(3 * mebibyte))],
      ['br, gzip', gzipSync(brotliCompressSync(Buffer.alloc(3 * mebibyte)))],
    ] as const) {
      const content = decodeContent(bytes, encoding, 16 * mebibyte);
      const detail = `${bytes.length} bytes become more than ${mebibyte}`;
      expect(content).toMatchObject({ problem: { kind: 'too-large', detail } });
    }
  });

  test('a fiftyfold is accepted as a repetitive answer', () => {
    const section = 'the same words again and again';
    const rows = Array.from({ length: 40_000 }, (_, index) => ({ section, points: index % 97 }));
    const answer = JSON.stringify(rows);
    const bytes = gzipSync(answer);
    expect(Math.floor(answer.length / bytes.length)).toBeGreaterThan(50);
    expect(decoded(bytes, 'gzip') === answer).toBe(true);
  });

  test('beyond a lower limit of the client is refused', () => {
    expect(decoded(gzipSync('x'.repeat(5_000)), 'gzip', 4_096)).toBe('too-large');
    expect(decoded(gzipSync('x'.repeat(4_096)), 'gzip', 4_096)).toHaveLength(4_096);
  });
});
