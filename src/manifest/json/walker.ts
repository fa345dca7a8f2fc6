import { isLineEnd, LineCounter, syntaxMistake, TextMistake } from '../text/position.ts';
import { parsePiece, repeatedName } from './piece.ts';
import { isWhiteSpace, type JsonText, JsonValueReader } from './value-reader.ts';

/** A value found by the walker, still as text; that of an array beside the rows is `[]`. */
export interface JsonPiece extends JsonText {
  /** Member name as JSON text, quotes included; undefined for an element of the array of rows. */
  readonly key: string | undefined;
}

export interface JsonWalkerOptions {
  /** `[ rows ]`, or `{ …, "rows": [ rows ], … }` whose other members become pieces too. */
  readonly outer: 'array' | 'object';
  /** Names that lead to the array of rows in an object. Default is `rows`; else what else is in it is only walked over. */
  readonly path?: readonly string[] | undefined;
  /** Offset of the first byte: the length of a byte order mark that has been taken off. */
  readonly offset: number;
  /** Bytes of one value. */
  readonly limit: number;
  /** Whether the elements are only walked over, without becoming pieces. */
  readonly skipElements: boolean;
}

/** What the walker expects outside of values. */
type State =
  /** The first bracket or brace. */
  | 'open'
  /** The parts of the outer object. */
  | 'first-key'
  | 'key'
  | 'colon'
  | 'member'
  | 'after-member'
  /** The parts of the array of rows. */
  | 'first-element'
  | 'element'
  | 'after-element'
  /** Nothing but white space. */
  | 'done';

/** Cuts JSON text (RFC 8259) that comes in chunks of bytes into the texts of its rows, in constant memory. */
export class JsonWalker {
  readonly #options: JsonWalkerOptions;
  readonly #lines = new LineCounter();
  readonly #value: JsonValueReader;
  #state: State = 'open';
  #inValue = false;
  #key: string | undefined;
  #hasRows = false;
  readonly #path: readonly string[];
  /** How many objects of the path have been entered. */
  #depth = 0;
  readonly #arrays: string[] = [];
  #openLine = 0;
  #doneLine = 0;
  /** Offset of the current chunk. */
  #offset: number;

  constructor(options: JsonWalkerOptions) {
    this.#options = options;
    this.#offset = options.offset;
    this.#path = options.path ?? ['rows'];
    this.#value = new JsonValueReader(options.limit, this.#lines);
  }

  /** Whether the outer object or array has been closed. */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** Whether the array of rows has been met. */
  get hasRows(): boolean {
    return this.#hasRows;
  }

  /** The names of other arrays that are members of the outer object, the first ones. */
  get arrays(): readonly string[] {
    return this.#arrays;
  }

  /** Whether the outer object or array, once closed, began and ended on the same line. */
  get isOnOneLine(): boolean {
    return this.#openLine === this.#doneLine;
  }

  /**
   * Walks over the next chunk and returns the values that end in it.
   *
   * @throws TextMistake (`MANIFEST_SYNTAX`, `MANIFEST_RECORD_TOO_LARGE`).
   */
  push(chunk: Buffer): readonly JsonPiece[] {
    const pieces: JsonPiece[] = [];
    let index = 0;
    while (index < chunk.length) {
      if (this.#inValue) {
        const end = this.#value.read(chunk, index, this.#offset);
        if (end < 0) break;
        this.#endValue(pieces);
        index = end;
      } else {
        const byte = chunk[index] as number;
        if (isLineEnd(byte)) this.#lines.count(chunk, index);
        if (!isWhiteSpace(byte)) this.#state = this.#step(byte, this.#offset + index);
        // A value is read from its first byte on.
        if (!this.#inValue) index++;
      }
    }
    this.#lines.endChunk(chunk);
    this.#offset += chunk.length;
    return pieces;
  }

  /** @throws TextMistake (`MANIFEST_SYNTAX`) when the text is not complete. */
  end(): void {
    if (this.#inValue)
      throw syntaxMistake(this.#value.offset, 'the file ends inside this value; is it cut off?');
    if (this.#state !== 'done') throw syntaxMistake(this.#offset, 'the file ends too early; is it cut off?');
  }

  /** Handles a byte between values; returns what comes next, or the same state when a value begins. */
  #step(byte: number, offset: number): State {
    const state = this.#state;
    switch (state) {
      case 'open':
        return this.#open(byte, offset);
      case 'first-key':
      case 'key':
        if (byte === closeBrace && state === 'first-key') return this.#closeObject();
        if (byte !== quote) throw unexpected(byte, offset, 'a name in double quotes');
        return this.#beginValue(byte, offset);
      case 'colon':
        if (byte !== colon) throw unexpected(byte, offset, ':');
        return 'member';
      case 'member':
        return this.#beginMember(byte, offset);
      case 'after-member':
        if (byte === closeBrace) return this.#closeObject();
        if (byte !== comma) throw unexpected(byte, offset, ', or }');
        return 'key';
      case 'first-element':
      case 'element':
        if (byte === closeBracket && state === 'first-element') return this.#closeRows();
        return this.#beginValue(byte, offset);
      case 'after-element':
        if (byte === closeBracket) return this.#closeRows();
        if (byte !== comma) throw unexpected(byte, offset, ', or ]');
        return 'element';
      case 'done':
        throw syntaxMistake(offset, `text after the end of the ${this.#options.outer}`);
    }
  }

  #open(byte: number, offset: number): State {
    const isArray = this.#options.outer === 'array';
    if (byte !== (isArray ? openBracket : openBrace)) throw unexpected(byte, offset, isArray ? '[' : '{');
    this.#openLine = this.#lines.line;
    return isArray ? 'first-element' : 'first-key';
  }

  #beginMember(byte: number, offset: number): State {
    if (isNamed(this.#key, this.#path[this.#depth])) {
      const isLast = this.#depth === this.#path.length - 1;
      if (isLast && byte === openBracket) return this.#openRows(offset);
      if (!isLast && byte === openBrace) {
        this.#depth++;
        return 'first-key';
      }
    }
    if (byte === openBracket && this.#depth === 0 && this.#arrays.length < keptNames) {
      const name = parsePiece(this.#key ?? '');
      if (name.ok) this.#arrays.push(String(name.value));
    }
    return this.#beginValue(byte, offset);
  }

  #closeObject(): State {
    if (this.#depth === 0) return this.#close();
    this.#depth--;
    return 'after-member';
  }

  #openRows(offset: number): State {
    if (this.#hasRows) {
      throw new TextMistake('MANIFEST_REPEATED_NAME', offset, repeatedName(this.#path.join('.')));
    }
    this.#hasRows = true;
    return 'first-element';
  }

  #closeRows(): State {
    return this.#options.outer === 'array' ? this.#close() : 'after-member';
  }

  #close(): State {
    this.#doneLine = this.#lines.line;
    return 'done';
  }

  #beginValue(byte: number, offset: number): State {
    if (byte === comma || byte === colon || byte === closeBracket || byte === closeBrace) {
      throw unexpected(byte, offset, 'a value');
    }
    this.#inValue = true;
    const isMember = this.#state === 'member';
    // An array that is no row is not kept: it may be as large as the file.
    const isIgnored = isMember && (byte === openBracket || this.#options.path !== undefined);
    const keepText = !isIgnored && !(this.#isElement && this.#options.skipElements);
    this.#value.begin(byte, offset, { keepText, bounded: !isIgnored });
    return this.#state;
  }

  #endValue(pieces: JsonPiece[]): void {
    this.#inValue = false;
    if (this.#isElement) {
      if (!this.#options.skipElements) pieces.push({ key: undefined, ...this.#value.take() });
      this.#state = 'after-element';
    } else if (this.#state === 'member') {
      const value = this.#value.take();
      pieces.push({ key: this.#key, ...value, text: value.text === '' ? '[]' : value.text });
      this.#state = 'after-member';
    } else {
      this.#key = this.#value.take().text;
      this.#state = 'colon';
    }
  }

  get #isElement(): boolean {
    return this.#state === 'element' || this.#state === 'first-element';
  }
}

/** How many names of arrays are kept for a message. */
const keptNames = 10;

/** Whether the JSON text of a name, which may be written with escapes, says this name. */
function isNamed(key: string | undefined, wanted: string | undefined): boolean {
  if (key === undefined || wanted === undefined) return false;
  const name = parsePiece(key);
  return name.ok && name.value === wanted;
}

function unexpected(byte: number, offset: number, expected: string): TextMistake {
  const shown = byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : 'this character';
  return syntaxMistake(offset, `expected ${expected}, not ${shown}`);
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
