import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePiece } from '../../../../src/engine/manifest/json/piece.ts';

/** A JSON value that knows its text, and whether one of its objects repeats a name. */
interface Sample {
  readonly text: string;
  readonly repeats: boolean;
}

const name = fc.constantFrom('a', 'b', ':', '"', '\\', '{', '__proto__', 'é', '1');

/** The same name is written in several ways. */
const written = fc.tuple(name, fc.boolean()).map(([text, escaped]) => ({
  name: text,
  text: escaped
    ? `"${[...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
    : JSON.stringify(text),
}));

const { sample } = fc.letrec<{ sample: Sample; list: Sample; record: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4 },
    fc
      .constantFrom('1', '12345678901234567890', '1e400', 'null', '":"', '"\\":{\\\\"', '{}', '[]')
      .map((text) => ({ text, repeats: false })),
    tie('list'),
    tie('record'),
  ),
  list: fc.array(tie('sample'), { maxLength: 3 }).map((items) => ({
    text: `[${items.map(({ text }) => text).join(' , ')}]`,
    repeats: items.some(({ repeats }) => repeats),
  })),
  record: fc.array(fc.tuple(written, tie('sample')), { maxLength: 4 }).map((members) => ({
    text: `{${members.map(([key, value]) => `${key.text} : ${value.text}`).join(',')}}`,
    repeats:
      new Set(members.map(([key]) => key.name)).size < members.length ||
      members.some(([, { repeats }]) => repeats),
  })),
}));

test('a piece is refused where an object repeats a name, and for nothing else', () => {
  fc.assert(
    fc.property(sample, ({ text, repeats }) => {
      const parsed = parsePiece(text);
      expect(parsed.ok).toBe(!repeats);
      if (parsed.ok) return;
      const literal = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(parsed.index))?.[0] ?? '';
      expect(parsed.code).toBe('MANIFEST_REPEATED_NAME');
      expect(parsed.problem).toContain(`"${JSON.parse(literal)}" appears twice`);
    }),
    { numRuns: 1000 },
  );
});
