/**
 * JSON with exact numbers: 64-bit identifiers are more than a JavaScript `number` can hold.
 */

import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

export { isLosslessNumber } from 'lossless-json';

/** How deep arrays and objects may be nested (RFC 8259, section 9, allows a limit): recursion below stays safe. */
const maxDepth = 512;

/** Integers with more digits stay text: turning them into a `bigint` takes quadratic time. */
const maxBigintDigits = 100;

/**
 * Finds a number that `JSON.parse` might round: one with 16 digits or more, or with an exponent. In JSON a number
 * follows nothing, white space, `:`, `,` or `[`; text in strings may match too, which costs time only.
 */
const possiblyInexact = /(?:^|[:,[\s])-?(?:\d{16}|[\d.]{17}|[\d.]+[eE])/;

/**
 * Parses JSON text (RFC 8259). Integers become `number` when that is safe and `bigint` otherwise; other numbers become
 * `number` when it keeps their value and `LosslessNumber` otherwise. Of equal keys the last one counts; a key
 * `__proto__` is an ordinary property.
 *
 * @throws SyntaxError with the position (from 0) when the text is not JSON or is nested deeper than 512 levels.
 */
export function parseJson(text: string): unknown {
  checkDepth(text);
  if (!possiblyInexact.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // The library below says where the mistake is; the messages of JSON.parse often don't.
    }
  }
  try {
    return parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    throw new SyntaxError(printable(error instanceof Error ? error.message : String(error)));
  }
}

/**
 * Writes a value as compact JSON text. `bigint` and `LosslessNumber` become number literals. Control characters and
 * lone surrogates are escaped, so the text is well-formed UTF-8 when encoded.
 *
 * @throws TypeError for a value that JSON cannot hold, such as `undefined`.
 */
export function stringifyJson(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`JSON cannot hold a value of type ${typeof value}`);
  return text;
}

function exactNumber(literal: string): number | bigint | LosslessNumber {
  if (isSafeNumber(literal)) return Number(literal);
  return /^-?\d+$/.test(literal) && literal.length <= maxBigintDigits
    ? BigInt(literal)
    : new LosslessNumber(literal);
}

function checkDepth(text: string): void {
  if (text.length <= 2 * maxDepth) return; // Too short to open and close so many.
  let depth = 0;
  let inString = false;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (inString) {
      if (code === backslash) position++;
      else if (code === quote) inString = false;
    } else if (code === quote) {
      inString = true;
    } else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) {
        throw new SyntaxError(`JSON is nested deeper than ${maxDepth} levels at position ${position}`);
      }
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
    }
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The library quotes the character it met: messages stay one line of visible text. */
function printable(message: string): string {
  return message.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
