/** Numbers that depend only on their key, such as seed, purpose and identifier. */
export type Random = ReturnType<typeof randomFor>;

export function randomFor(...key: readonly (string | number | bigint)[]) {
  const next = sfc32(hash(key.join(' ')));
  /** A number of at least 0 and less than 1. */
  const fraction = (): number => next() / 2 ** 32;
  return {
    fraction,
    /** A whole number between two bounds, both inclusive. */
    integer: (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1)),
    /** A decimal number of 19 digits, too large for a JavaScript number. */
    bigInteger: () => smallestOf19Digits + ((BigInt(next()) << 32n) | BigInt(next())) / 4n,
    chance: (share: number) => fraction() < share,
  };
}

const smallestOf19Digits = 10n ** 18n;

type Words = readonly [number, number, number, number];

/** cyrb128: 128 bits from a text. */
function hash(text: string): Words {
  let a = 1779033703;
  let b = 3144134277;
  let c = 1013904242;
  let d = 2773480762;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  return [a ^ b ^ c ^ d, b ^ a, c ^ a, d ^ a];
}

/** sfc32: Chris Doty-Humphrey's small fast counting generator. */
function sfc32(words: Words): () => number {
  let [a, b, c, d] = words;
  return () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
}
