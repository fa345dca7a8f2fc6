/** What makes a character look different; undefined for ordinary text. */
export type Style = 'bold' | 'quiet' | 'bad' | 'good' | 'warning';

/** A character of the screen. */
export interface Cell {
  readonly char: string;
  readonly style: Style | undefined;
}

const styles: Readonly<Record<string, Style>> = {
  1: 'bold',
  2: 'quiet',
  31: 'bad',
  32: 'good',
  33: 'warning',
  '1;31': 'bad',
  '1;33': 'warning',
};
const parts = /(?!\s)\p{Cc}\[([\d;]*)([A-Za-z])|./gsu;
const unfinished = /(?!\s)\p{Cc}(?:\[[\d;]*)?$/u;

/** A terminal that knows what `cqbatch` and a plain shell use, and refuses everything else. It keeps lines that scroll away. */
export class Terminal {
  readonly lines: Cell[][] = [[]];
  readonly #columns: number;
  #row = 0;
  #column = 0;
  #style: Style | undefined;
  /** The beginning of an escape sequence. */
  #rest = '';

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** @throws an error for a control character or an escape sequence that it doesn't know */
  write(text: string): void {
    const all = this.#rest + text;
    this.#rest = unfinished.exec(all)?.[0] ?? '';
    const whole = all.slice(0, all.length - this.#rest.length);
    for (const [part, argument = '', command] of whole.matchAll(parts)) {
      if (command !== undefined) this.#obey(argument, command);
      else if (part === '\r') this.#column = 0;
      else if (part === '\n') this.#down();
      else if (part < ' ') throw new Error(`unknown control character ${JSON.stringify(part)}`);
      else this.#put(part);
    }
  }

  #obey(argument: string, command: string): void {
    if (command === 'm') this.#style = styles[argument];
    else if (command === 'G') this.#column = Number(argument) - 1;
    else if (command === 'A') this.#row = Math.max(0, this.#row - Number(argument));
    else if (command === 'J') this.#clearBelow();
    else if (command === 'K' && argument === '2') this.#line.splice(0);
    else throw new Error(`unknown escape sequence ${argument}${command}`);
  }

  get #line(): Cell[] {
    return this.lines[this.#row] ?? [];
  }

  #down(): void {
    this.#row += 1;
    if (this.#row === this.lines.length) this.lines.push([]);
  }

  /** From the cursor to the end of the screen. */
  #clearBelow(): void {
    this.#line.splice(this.#column);
    this.lines.splice(this.#row + 1);
  }

  #put(char: string): void {
    if (this.#column === this.#columns) {
      this.#down();
      this.#column = 0;
    }
    this.#line[this.#column] = { char, style: this.#style };
    this.#column += 1;
  }
}

export function textOf(line: readonly Cell[]): string {
  return line.map(({ char }) => char).join('');
}
