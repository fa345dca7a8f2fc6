/** JSON with exact numbers: 64-bit identifiers exceed the precision of a JavaScript `number`. */

import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { escapeInvisible } from './printable.ts';

export { isLosslessNumber } from 'lossless-json';

/** Depth of arrays and objects (RFC 8259, section 9, allows a limit): recursion below stays safe. */
const maxDepth = 512;

/** Longer integers stay text: converting them to `bigint` takes quadratic time. */
const maxBigintDigits = 100;

/**
 * A number that `JSON.parse` might round (16 digits or more, or an exponent), and characters after it that might belong to it. In JSON a
 * number follows nothing, white space, `:`, `,` or `[`; text in strings may match.
 */
const possiblyInexact = /(^|[:,[\s])(-?(?:\d{16}|[\d.]{17}|[\d.]+[eE])[\d.eE+-]*)/g;

const numberLiteral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const keyEnd = /[ \t\n\r]*:/y;

/**
 * RFC 8259. Integers become `number` when that is safe and `bigint` otherwise; other numbers `number` when it keeps their value and
 * `LosslessNumber` otherwise. The last of equal keys counts; `__proto__` is an ordinary property.
 *
 * @throws SyntaxError with the position (from 0) when the text is not JSON or is nested deeper than 512 levels.
 */
export function parseJson(text: string): unknown {
  if (mayBeDeep(text)) checkDepth(text);
  try {
    // In Node 24, `JSON.parse` may mistake a name with an escape for one that it has read before (nodejs/node#63785).
    const isSafe = !hasEscapedName(text);
    const { marked, marks } = markNumbers(text);
    if (isSafe && marks === 0) return JSON.parse(text);
    if (isSafe && !text.includes('\\u0000')) return restoreNumbers(JSON.parse(marked), { marks });
  } catch {
    // The library below reports where a mistake is.
  }
  try {
    return parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    throw new SyntaxError(escapeInvisible(error instanceof Error ? error.message : String(error)));
  }
}

function hasEscapedName(text: string): boolean {
  if (!text.includes('\\')) return false;
  const colon = /\s*:/y;
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = start + 1;
    let isEscaped = false;
    for (; end < text.length && text[end] !== '"'; end++) {
      if (text[end] !== '\\') continue;
      isEscaped = true;
      end++;
    }
    colon.lastIndex = end + 1;
    if (isEscaped && colon.test(text)) return true;
    start = text.indexOf('"', end + 1);
  }
  return false;
}

/**
 * Compact JSON. `bigint` and `LosslessNumber` become number literals. Control characters and lone surrogates are escaped, so that the text
 * encodes to well-formed UTF-8.
 *
 * @throws TypeError for a value that JSON cannot hold, such as `undefined`.
 */
export function stringifyJson(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`JSON cannot hold a value of type ${typeof value}`);
  return text;
}

export function jsonLine(value: object): string {
  const line = JSON.stringify(value);
  return `${exoticLineEnds.test(line) ? line.replace(/[\u0085\u2028\u2029]/g, escapeCharacter) : line}\n`;
}

/** JSON leaves them in strings; many tools take them for line ends. */
const exoticLineEnds = /[\u0085\u2028\u2029]/;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Whether a value is a JSON object: neither an array nor an exact number. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}

/**
 * Turns numbers that `JSON.parse` might round into strings that begin with an escaped NUL: twice as fast as a parser in JavaScript. Text
 * that is not JSON does not become JSON.
 */
function markNumbers(text: string): { readonly marked: string; readonly marks: number } {
  const isInString = stringFinder(text);
  let marks = 0;
  const marked = text.replace(possiblyInexact, (match, prefix: string, literal: string, index: number) => {
    const end = index + match.length;
    if (isInString(index) || !numberLiteral.test(literal) || isKey(text, end)) return match;
    marks += 1;
    return `${prefix}"\\u0000${literal}"`;
  });
  return { marked, marks };
}

/** Positions must ascend from call to call. */
function stringFinder(text: string): (position: number) => boolean {
  let inString = false;
  let quotation = text.indexOf('"');
  return (position) => {
    while (quotation >= 0 && quotation < position) {
      inString = !inString || isEscaped(text, quotation);
      quotation = text.indexOf('"', quotation + 1);
    }
    return inString;
  };
}

function isEscaped(text: string, position: number): boolean {
  let first = position;
  while (text.charCodeAt(first - 1) === backslash) first--;
  return (position - first) % 2 === 1;
}

/** A string before a colon is a key. */
function isKey(text: string, end: number): boolean {
  keyEnd.lastIndex = end;
  return keyEnd.test(text);
}

/** Stops after the last number. */
function restoreNumbers(value: unknown, remaining: { marks: number }): unknown {
  if (typeof value === 'string') {
    if (value.charCodeAt(0) !== 0) return value;
    remaining.marks -= 1;
    return exactNumber(value.slice(1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<string, unknown>;
  for (const key in parts) {
    if (remaining.marks === 0) break;
    const part = parts[key];
    if (typeof part === 'object' || typeof part === 'string') parts[key] = restoreNumbers(part, remaining);
  }
  return value;
}

function exactNumber(literal: string): number | bigint | LosslessNumber {
  if (isSafeNumber(literal)) return Number(literal);
  return /^-?\d+$/.test(literal) && literal.length <= maxBigintDigits
    ? BigInt(literal)
    : new LosslessNumber(literal);
}

const longInteger = /(?:^|[:,[\s])-?\d{16}/;

/** Whether JSON text has a whole number beyond ±9007199254740991, outside its strings: a reader in JavaScript rounds it. */
export function hasUnsafeInteger(text: string): boolean {
  if (!longInteger.test(text)) return false;
  try {
    return isUnsafe(parseJson(text));
  } catch {
    return false;
  }
}

function isUnsafe(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(isUnsafe);
}

function mayBeDeep(text: string): boolean {
  if (text.length <= 2 * maxDepth) return false; // Too short to open and close that many.
  let openings = 0;
  for (const opening of '[{') {
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) {
      if (++openings > maxDepth) return true;
    }
  }
  return false;
}

function checkDepth(text: string): void {
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
