import { composed } from '../../../base/text/composed.ts';
import { size } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { endsLine, isLineEnd, maxRecordBytes, syntaxMistake, TextMistake } from '../text/mistake.ts';
import { joiningCommand } from './page.ts';
import { parsePiece, repeatedName } from './piece.ts';

export interface JsonValue {
  readonly text: string;
  /** The line where the value begins, from 1. */
  readonly line: number;
  readonly offset: number;
}

export interface DocumentOptions {
  /** The outer value: `[ rows ]`, or `{ …, "rows": [ rows ], … }`. */
  readonly outer: 'array' | 'object';
  /** The names that lead to the rows. Default: `rows`; then other members that are no arrays are limited in size. */
  readonly path?: readonly string[] | undefined;
  /** The length of a byte order mark that was removed. */
  readonly offset: number;
}

const maxDocumentBytes = 1_000_000_000;
const keptMembers = 100;

/** Reads a whole document. @throws TextMistake (`MANIFEST_TOO_LARGE`) for more than 1 GB */
export async function readWhole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length <= maxDocumentBytes) continue;
    const problem = `the JSON document is larger than ${size(maxDocumentBytes)}; write one object on each line (JSON Lines)`;
    throw new TextMistake('MANIFEST_TOO_LARGE', undefined, problem);
  }
  return Buffer.concat(parts, length);
}

/**
 * Finds the rows in JSON text (RFC 8259). In values it follows only strings and brackets: code that parses the value finds other mistakes.
 */
export class JsonDocument {
  readonly #bytes: Buffer;
  readonly #options: DocumentOptions;
  readonly #path: readonly string[];
  #at = 0;
  #line = 1;
  /** The first members of the document besides the rows. */
  readonly members: {
    readonly key: JsonValue;
    readonly value: JsonValue;
    readonly kind: 'array' | 'object' | 'scalar';
    /** The number of objects around the member, without the outer one. */
    readonly depth: number;
  }[] = [];
  hasRows = false;
  /** Whether the outer value is on one line. Known once it was read. */
  isOnOneLine = false;
  /** Whether another object or array follows. Known once the outer value was read. */
  isFollowed = false;

  constructor(bytes: Buffer, options: DocumentOptions) {
    this.#bytes = bytes;
    this.#options = options;
    this.#path = (options.path ?? ['rows']).map(composed);
  }

  /**
   * Gives the rows, once. Ignores what follows an object without rows, which may be the first of JSON Lines.
   *
   * @throws TextMistake (`MANIFEST_SYNTAX`, `MANIFEST_REPEATED_NAME`, `MANIFEST_RECORD_TOO_LARGE`)
   */
  *rows(): Generator<JsonValue, void, undefined> {
    const { outer } = this.#options;
    this.#next();
    const line = this.#line;
    yield* outer === 'array' ? this.#elements() : this.#object(0);
    this.isOnOneLine = line === this.#line;
    const next = this.#next();
    this.isFollowed = isOpening(next);
    if ((outer === 'array' || this.hasRows) && next !== undefined) throw this.#mistake(this.#textBehind());
  }

  #textBehind(): string {
    const { outer, path = ['rows'] } = this.#options;
    const text = `text after the end of the ${outer}`;
    if (!isOpening(this.#bytes[this.#at])) return text;
    return `${text}; if the file has several, make it one array: ${joiningCommand(outer === 'array' ? 'arrays' : path)}`;
  }

  *#object(depth: number): Generator<JsonValue, void, undefined> {
    this.#expect(openBrace, '{');
    if (this.#take(closeBrace)) return;
    do {
      if (this.#next() !== quote) throw this.#unexpected('a name in double quotes');
      const key = this.#value();
      this.#expect(colon, ':');
      yield* this.#member(key, depth);
    } while (this.#goesOn(closeBrace, ', or }'));
  }

  *#member(key: JsonValue, depth: number): Generator<JsonValue, void, undefined> {
    const first = this.#next();
    const isArray = first === openBracket;
    const name = parsePiece(key.text);
    if (name.ok && this.#isOnPath(name.value, depth)) {
      const isLast = depth === this.#path.length - 1;
      if (isLast && isArray) return yield* this.#rowsOnce();
      if (!isLast && first === openBrace) return yield* this.#object(depth + 1);
    }
    // An array may be as large as the file, and so may any member beside the path that the user has named.
    const isUnbounded = isArray || this.#options.path !== undefined;
    const value = this.#value(isUnbounded ? Number.POSITIVE_INFINITY : maxRecordBytes);
    const kind = isArray ? 'array' : first === openBrace ? 'object' : 'scalar';
    if (this.members.length < keptMembers) this.members.push({ key, value, kind, depth });
  }

  #isOnPath(name: unknown, depth: number): boolean {
    return typeof name === 'string' && composed(name) === this.#path[depth];
  }

  #rowsOnce(): Generator<JsonValue, void, undefined> {
    if (this.hasRows) {
      const problem = repeatedName(this.#path.join('.'));
      throw new TextMistake('MANIFEST_REPEATED_NAME', this.#offset(this.#at), problem);
    }
    this.hasRows = true;
    return this.#elements();
  }

  *#elements(): Generator<JsonValue, void, undefined> {
    this.#expect(openBracket, '[');
    if (this.#take(closeBracket)) return;
    do yield this.#value();
    while (this.#goesOn(closeBracket, ', or ]'));
  }

  #goesOn(close: number, expected: string): boolean {
    if (this.#take(close)) return false;
    this.#expect(comma, expected);
    return true;
  }

  #take(byte: number): boolean {
    if (this.#next() !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number, expected: string): void {
    if (!this.#take(byte)) throw this.#unexpected(expected);
  }

  #next(): number | undefined {
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at] as number;
      if (isLineEnd(byte)) this.#line += endsLine(this.#bytes, this.#at) ? 1 : 0;
      else if (byte !== 0x20 && byte !== 0x09) return byte;
    }
    return undefined;
  }

  #value(limit = maxRecordBytes): JsonValue {
    const first = this.#next();
    if (first === undefined || first === comma || first === colon || isClosing(first))
      throw this.#unexpected('a value');
    const line = this.#line;
    const start = this.#at;
    const offset = this.#offset(start);
    const isScalar = first !== quote && first !== openBrace && first !== openBracket;
    const found = isScalar ? this.#endOfScalar() : this.#endOfValue();
    const end = found ?? this.#bytes.length;
    if (end - start > limit) {
      const problem = `this value is larger than ${limit} bytes; is a quote or bracket missing?`;
      throw new TextMistake('MANIFEST_RECORD_TOO_LARGE', offset, problem);
    }
    if (found === undefined) throw syntaxMistake(offset, 'the file ends inside this value; is it cut off?');
    this.#at = end;
    const bytes = this.#bytes;
    return {
      get text() {
        return bytes.toString('utf8', start, end);
      },
      line,
      offset,
    };
  }

  #endOfScalar(): number | undefined {
    for (let index = this.#at; index < this.#bytes.length; index++) {
      const byte = this.#bytes[index] as number;
      if (byte === 0x20 || byte === 0x09 || isLineEnd(byte) || byte === comma || isClosing(byte))
        return index;
    }
    return undefined;
  }

  #endOfValue(): number | undefined {
    // Fields of the object are read into variables, because this is the inner loop of reading JSON.
    const bytes = this.#bytes;
    let depth = 0;
    let opened = -1;
    for (let index = this.#at; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (opened >= 0) {
        if (byte < 0x20) throw this.#brokenString(byte, opened, index);
        if (byte === backslash && (bytes[index + 1] as number) >= 0x20) index++;
        if (byte !== quote) continue;
        opened = -1;
      } else if (byte === quote) {
        opened = index;
        continue;
      } else if (byte === openBrace || byte === openBracket) {
        depth++;
        continue;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth--;
      } else {
        if (endsLine(bytes, index)) this.#line++;
        continue;
      }
      if (depth === 0) return index + 1;
    }
    return undefined;
  }

  #brokenString(byte: number, start: number, index: number): TextMistake {
    if (isLineEnd(byte))
      return syntaxMistake(this.#offset(start), 'this string has no closing quote on its line');
    const escaped = escapeInvisible(String.fromCharCode(byte));
    return syntaxMistake(this.#offset(index), `control character in a string; write it as ${escaped}`);
  }

  #unexpected(expected: string): TextMistake {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) return this.#mistake('the file ends too early; is it cut off?');
    const shown = byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : 'this character';
    return this.#mistake(`expected ${expected}, not ${shown}`);
  }

  #mistake(problem: string): TextMistake {
    return syntaxMistake(this.#offset(this.#at), problem);
  }

  #offset(index: number): number {
    return this.#options.offset + index;
  }
}

function isOpening(byte: number | undefined): boolean {
  return byte === openBrace || byte === openBracket;
}

function isClosing(byte: number): boolean {
  return byte === closeBrace || byte === closeBracket;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
