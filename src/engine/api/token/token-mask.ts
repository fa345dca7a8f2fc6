import { isLosslessNumber } from '../../../base/text/json.ts';

/** Hides the token in text for reports, journals, datastores and logs. */
export interface TokenMask {
  readonly text: (text: string) => string;
  /** Masks the token in all text of parsed JSON, in place. `source` is its JSON text. */
  readonly json: (value: unknown, source: string) => unknown;
}

const substitute = '[token]';
/** A shorter token would occur in every answer by chance; only a sandbox accepts one. */
const shortestToken = 3;
/** A shorter token is part of words by chance: it is masked only where no letter or digit adjoins it, and not in base64 or hexadecimal. */
const shortestInWords = 4;
/** The most layers of escapes that are undone: for example percent-encoded twice, in an attribute of HTML, in JSON. */
const mostLayers = 4;

/**
 * Finds the token as it is, in base64 (also with a user before it, as in Basic), in hexadecimal, and where its characters are escaped for
 * URLs, JSON or HTML, even several times: APIs quote requests in error pages, in redirects and in bodies inside bodies.
 */
export function createTokenMask(token: string): TokenMask {
  const spellings = spellingsOf(token);

  const text = (quoting: string): string => {
    const places: Place[] = [];
    let layer: Layer | undefined = { text: quoting };
    for (let depth = 0; layer !== undefined && depth <= mostLayers; depth++) {
      places.push(...placesIn(layer, spellings));
      layer = withoutEscapes(layer);
    }
    return places.length === 0 ? quoting : withoutPlaces(quoting, places);
  };
  return {
    text,
    // The text is searched first, which is much faster than walking through the value: few answers quote the token.
    json: (value, source) => {
      const mayQuote =
        token.length >= shortestToken &&
        (/[\\%&]/.test(source) || spellings.some(({ necessaryPart }) => source.includes(necessaryPart)));
      return mayQuote ? maskedValue(value, text) : value;
    },
  };
}

interface Spelling {
  /** A text that occurs wherever the pattern matches: `includes` is several times as fast, and matches are rare. */
  readonly necessaryPart: string;
  readonly pattern: RegExp;
}

function spellingsOf(token: string): readonly Spelling[] {
  // A layer is unescaped as a whole, also where the token itself looks like an escape.
  const inLayers = new Set([token]);
  for (let layer = withoutEscapes({ text: token }); layer !== undefined; layer = withoutEscapes(layer))
    inLayers.add(layer.text);
  const plain = [...inLayers].map((part) =>
    spelling(part, token.length < shortestInWords ? patternOfWord : patternAnywhere),
  );
  if (token.length < shortestInWords) return plain;
  const hex = Buffer.from(token).toString('hex');
  return [
    ...plain,
    spelling(hex, patternAnywhere),
    spelling(hex.toUpperCase(), patternAnywhere),
    ...[0, 1, 2].flatMap((before) => base64Spellings(token, before)),
  ];
}

const patternAnywhere = (escaped: string): string => escaped;
const patternOfWord = (escaped: string): string => `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`;

function spelling(necessaryPart: string, around: (escaped: string) => string): Spelling {
  const escaped = necessaryPart.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return { necessaryPart, pattern: new RegExp(around(escaped), 'gu') };
}

/**
 * Six bits make a digit, so a digit at either end may also have bits of the text around the token.
 *
 * @param before how many bytes of other text are in the same group of three
 */
function base64Spellings(token: string, before: number): readonly Spelling[] {
  const bits = 8 * (before + token.length);
  const digits = Buffer.from('\0'.repeat(before) + token)
    .toString('base64')
    .slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
  const shared = '[\\w+/\\-]';
  const around = (escaped: string): string =>
    `${before > 0 ? shared : ''}${escaped}${bits % 6 > 0 ? shared : ''}={0,2}`;
  const parts = new Set([digits, digits.replaceAll('+', '-').replaceAll('/', '_')]);
  return [...parts].map((part) => spelling(part, around));
}

/** Text without some of its escapes. */
interface Layer {
  readonly text: string;
  /** The place in the original text of each character's beginning, and of the end. Absent when they are equal. */
  readonly origins?: readonly number[];
}

/** The escapes of URLs, JSON and HTML. Of the short escapes of JSON, only these stand for characters of a token. */
const escapes =
  /%([\da-f]{2})|\\u00([\da-f]{2})|\\x([\da-f]{2})|\\(["\\/])|&#x0*([\da-f]{2});|&#0*(\d{2,3});|&(\w{2,6});/gi;

/** A text without its outer escapes. Undefined if no visible ASCII character is escaped: tokens have no others. */
function withoutEscapes({ text, origins }: Layer): Layer | undefined {
  let [plain, end] = ['', 0];
  const places: number[] = [];
  const keep = (from: number, to: number): void => {
    plain += text.slice(from, to);
    for (let at = from; at < to; at++) places.push(origins?.[at] ?? at);
  };
  for (const match of text.matchAll(escapes)) {
    const character = characterOf(match);
    if (character === undefined) continue;
    keep(end, match.index);
    places.push(origins?.[match.index] ?? match.index);
    plain += character;
    end = match.index + match[0].length;
  }
  if (end === 0) return undefined;
  keep(end, text.length);
  places.push(origins?.[text.length] ?? text.length);
  return { text: plain, origins: places };
}

function characterOf(match: RegExpExecArray): string | undefined {
  const [, percent, unicode, x, short, hexadecimal, decimal, name] = match;
  if (short !== undefined) return short;
  if (name !== undefined) return namedCharacters[name.toLowerCase()];
  const hex = percent ?? unicode ?? x ?? hexadecimal;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : undefined;
}

const namedCharacters: Readonly<Record<string, string | undefined>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  plus: '+',
  sol: '/',
  equals: '=',
  period: '.',
  lowbar: '_',
  hyphen: '-',
  colon: ':',
};

/** A place in the original text, before escapes are undone. */
interface Place {
  readonly from: number;
  readonly to: number;
}

function placesIn({ text, origins }: Layer, spellings: readonly Spelling[]): readonly Place[] {
  return spellings.flatMap(({ necessaryPart, pattern }) => {
    if (!text.includes(necessaryPart)) return [];
    return Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => ({
      from: origins?.[index] ?? index,
      to: origins?.[index + length] ?? index + length,
    }));
  });
}

function withoutPlaces(text: string, places: readonly Place[]): string {
  let [masked, end] = ['', 0];
  for (const { from, to } of places.toSorted((a, b) => a.from - b.from)) {
    if (from >= end) masked += text.slice(end, from) + substitute;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}

function maskedValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return value;
  const parts = value as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = maskedValue(parts[key], mask);
    const name = mask(key);
    if (name !== key) delete parts[key];
    if (name !== key || part !== parts[key]) parts[name] = part;
  }
  return value;
}
