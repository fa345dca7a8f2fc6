import fc from 'fast-check';

const firstSurrogate = 0xd800;
const surrogates = 0x800;

/**
 * Any character of Unicode, for `fc.string({ unit: anyCharacter })`: the same as with `'binary'`, which first makes a table of a
 * million characters in each thread of the tests. That takes longer than most tests.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - surrogates).map(
  (index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('is not one character');
    return point < firstSurrogate ? point : point - surrogates;
  },
);
