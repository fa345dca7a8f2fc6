import { counted, size } from '../../base/text/format.ts';

const maxEntryLength = 16 * 1024 * 1024;
const maxRestLength = 1024 * 1024;

/**
 * Splits the JSON text of an answer, part by part, into the texts of its entries and the text around them: an answer may have a million
 * entries, of which one is held at a time. Follows only strings and brackets; code that parses the texts finds other mistakes.
 */
export class EntrySplitter {
  /** The names of the member that has the entries, with quotes, as in the text. */
  readonly #names: ReadonlySet<string>;
  hasEntries = false;
  #isInEntries = false;
  /** The text around the entries, with an empty array in place of the entries. */
  #textAround = '';
  /** The entry that is not complete yet. */
  #entry = '';
  /** The index of the next character in the text around the entries, or in the entry. */
  #index = 0;
  /** How many brackets are open: in the text around the entries, or in the entry. */
  #depth = 0;
  #isInString = false;
  /** Where the latest string in the outer object begins. */
  #nameStart = 0;
  #nameEnd = 0;
  /** The member of the outer object whose value comes. */
  #member = '';

  /** @param names of the member that has the entries */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => JSON.stringify(name)));
  }

  /**
   * Returns the texts of the entries that end in this part.
   *
   * @throws SyntaxError when an entry, or the text around the entries, is too large
   */
  push(part: string): readonly string[] {
    const texts: string[] = [];
    for (let text = part; text !== ''; )
      text = this.#isInEntries ? this.#takeEntries(text, texts) : this.#takeRest(text);
    if (this.#entry.length > maxEntryLength)
      throw new SyntaxError(`an entry is larger than ${size(maxEntryLength)}`);
    if (this.#textAround.length > maxRestLength)
      throw new SyntaxError(`it has more than ${counted(maxRestLength, 'character')} around its entries`);
    return texts;
  }

  /** The text around the entries so far. */
  get textAround(): string {
    return this.#textAround;
  }

  /** Ends the text, and returns what is around the entries. @throws SyntaxError when the text ends in the entries */
  end(): string {
    if (this.#isInEntries) throw new SyntaxError('it ends in the middle of its entries');
    return this.#textAround;
  }

  /** Returns the text behind the bracket that opens the entries. */
  #takeRest(part: string): string {
    const text = this.#textAround + part;
    for (; this.#index < text.length; this.#index++) {
      const code = text.charCodeAt(this.#index);
      if (this.#isInString) {
        if (code === backslash) this.#index++;
        else if (code === quote) {
          this.#isInString = false;
          this.#nameEnd = this.#index + 1;
        }
      } else if (code === quote) {
        this.#isInString = true;
        this.#nameStart = this.#index;
      } else if (code === colon && this.#depth === 1) {
        this.#member = text.slice(this.#nameStart, this.#nameEnd);
      } else if (code === openBracket && this.#depth === 1 && this.#names.has(this.#member)) {
        this.hasEntries = true;
        this.#isInEntries = true;
        const end = this.#index + 1;
        this.#textAround = text.slice(0, end);
        this.#index = 0;
        this.#depth = 0;
        return text.slice(end);
      } else this.#depth = Math.max(0, this.#depth + depthOf(code));
    }
    this.#textAround = text;
    return '';
  }

  /** Returns the text from the bracket that closes the entries. */
  #takeEntries(part: string, texts: string[]): string {
    const text = this.#entry + part;
    let start = 0;
    for (; this.#index < text.length; this.#index++) {
      const code = text.charCodeAt(this.#index);
      if (this.#isInString) {
        if (code === backslash) this.#index++;
        else if (code === quote) this.#isInString = false;
      } else if (code === quote) this.#isInString = true;
      else if (code === comma && this.#depth === 0) {
        texts.push(text.slice(start, this.#index));
        start = this.#index + 1;
      } else if (code === closeBracket && this.#depth === 0) {
        const last = text.slice(start, this.#index);
        if (last.trim() !== '') texts.push(last);
        const behind = text.slice(this.#index);
        this.#isInEntries = false;
        this.#entry = '';
        // `#rest` ends with the bracket that opens the entries. The bracket that closes them comes next.
        this.#index = this.#textAround.length;
        this.#depth = 2;
        return behind;
      } else this.#depth += depthOf(code);
    }
    this.#entry = text.slice(start);
    this.#index -= start;
    return '';
  }
}

function depthOf(code: number): number {
  if (code === openBrace || code === openBracket) return 1;
  return code === closeBrace || code === closeBracket ? -1 : 0;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
