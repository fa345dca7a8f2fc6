import { escapeInvisible } from '../../text/printable.ts';
import { isLineEnd, type LineCounter, syntaxMistake, TextMistake } from '../text/position.ts';

/** Where a value was found, and its text. */
export interface JsonText {
  readonly text: string;
  /** Line on which the value begins, from 1. */
  readonly line: number;
  /** Offset of its first byte. */
  readonly offset: number;
}

interface KeepOptions {
  readonly keepText: boolean;
  /** Whether the limit of a value holds. */
  readonly bounded: boolean;
}

/**
 * Finds the end of one JSON value after the other in chunks of bytes. It follows strings and brackets only, so that a
 * value that is broken inside is found by who parses its text.
 */
export class JsonValueReader {
  readonly #limit: number;
  readonly #lines: LineCounter;
  #isScalar = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #stringOffset = 0;
  #parts: Buffer[] = [];
  #length = 0;
  #keepText = true;
  #bounded = true;
  #line = 0;
  #offset = 0;

  /** @param limit bytes of a value. */
  constructor(limit: number, lines: LineCounter) {
    this.#limit = limit;
    this.#lines = lines;
  }

  /** Offset of the first byte of the value. */
  get offset(): number {
    return this.#offset;
  }

  /** Begins a value with this byte, which `read` is to see as well. */
  begin(byte: number, offset: number, { keepText, bounded }: KeepOptions): void {
    this.#isScalar = byte !== quote && byte !== openBrace && byte !== openBracket;
    this.#depth = 0;
    this.#parts = [];
    this.#length = 0;
    this.#keepText = keepText;
    this.#bounded = bounded;
    this.#line = this.#lines.line;
    this.#offset = offset;
  }

  /**
   * Reads on in a chunk.
   *
   * @returns index after the end of the value, or -1 when the value goes on after the chunk.
   * @throws TextMistake (`MANIFEST_SYNTAX`, `MANIFEST_RECORD_TOO_LARGE`).
   */
  read(chunk: Buffer, from: number, chunkOffset: number): number {
    const end = this.#isScalar ? scalarEnd(chunk, from) : this.#findEnd(chunk, from, chunkOffset);
    const part = chunk.subarray(from, end < 0 ? chunk.length : end);
    this.#length += part.length;
    if (this.#bounded && this.#length > this.#limit) throw tooLarge(this.#offset, this.#limit);
    if (this.#keepText) this.#parts.push(part);
    return end;
  }

  /** The value whose end has been found. */
  take(): JsonText {
    const [first, ...others] = this.#parts;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#parts);
    return { text: bytes.toString('utf8'), line: this.#line, offset: this.#offset };
  }

  #findEnd(chunk: Buffer, from: number, chunkOffset: number): number {
    // Local copies: this is the inner loop of reading JSON.
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let end = -1;
    for (let index = from; index < chunk.length && end < 0; index++) {
      const byte = chunk[index] as number;
      if (inString) {
        if (byte < 0x20) throw this.#brokenString(byte, chunkOffset + index);
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) {
          inString = false;
          if (depth === 0) end = index + 1;
        }
      } else if (byte === quote) {
        inString = true;
        this.#stringOffset = chunkOffset + index;
      } else if (byte === openBrace || byte === openBracket) {
        depth++;
      } else if (byte === closeBrace || byte === closeBracket) {
        if (--depth === 0) end = index + 1;
      } else if (isLineEnd(byte)) {
        this.#lines.count(chunk, index);
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    return end;
  }

  #brokenString(byte: number, offset: number): TextMistake {
    if (isLineEnd(byte)) {
      return syntaxMistake(this.#stringOffset, 'this string is not closed on its line');
    }
    const escaped = escapeInvisible(String.fromCharCode(byte));
    return syntaxMistake(offset, `control character in a string; write it as ${escaped}`);
  }
}

/** White space of RFC 8259, section 2. */
export function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || isLineEnd(byte);
}

function scalarEnd(chunk: Buffer, from: number): number {
  for (let index = from; index < chunk.length; index++) {
    const byte = chunk[index] as number;
    if (isWhiteSpace(byte) || byte === comma || byte === closeBracket || byte === closeBrace) return index;
  }
  return -1;
}

function tooLarge(offset: number, limit: number): TextMistake {
  const problem = `this value is larger than ${limit} bytes; is a quote or bracket missing?`;
  return new TextMistake('MANIFEST_RECORD_TOO_LARGE', offset, problem);
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
