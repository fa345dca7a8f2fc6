import { type CqbatchError, usageError } from '../../errors.ts';
import { parseDuration } from './duration.ts';

/** The parameters of a limit as they are given, each to be read once. Whatever is bad throws `INVALID_OPTION`. */
export class LimitParameters {
  readonly #option: string;
  readonly #given: ReadonlyMap<string, string>;
  readonly #read = new Set<string>();

  constructor(option: string, given: ReadonlyMap<string, string>) {
    this.#option = option;
    this.#given = given;
  }

  /** A number of at most nine digits before and after the point. Without a default it must be given. */
  number(name: string, { min, byDefault }: { readonly min: number; readonly byDefault?: number }): number {
    const text = this.#text(name);
    if (text === undefined && byDefault !== undefined) return byDefault;
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text ?? '') ? Number(text) : Number.NaN;
    if (!(value >= min)) throw this.#refusal(`${name} must be given as a number, ${min} or more`);
    return value;
  }

  /** A whole number of at most nine digits, which must be given. */
  wholeNumber(name: string, { min }: { readonly min: number }): number {
    const text = this.#text(name) ?? '';
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min)) throw this.#refusal(`${name} must be given as a whole number, ${min} or more`);
    return value;
  }

  /** A duration of one or more whole milliseconds, which must be given. */
  duration(name: string): number {
    const text = this.#text(name);
    const value = text === undefined ? Number.NaN : parseDuration(`${this.#option}: ${name}`, text);
    if (!Number.isInteger(value) || value < 1) {
      throw this.#refusal(
        `${name} must be given as a duration of whole milliseconds, such as 500ms, 1m or 24h`,
      );
    }
    return value;
  }

  /** One of a few words, the first of which is the default. */
  word<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const text = this.#text(name) ?? words[0];
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) {
      throw this.#refusal(`${name}: ${JSON.stringify(text)} is none of ${words.join(', ')}`);
    }
    return word;
  }

  refuseUnread(kind: string): void {
    for (const name of this.#given.keys()) {
      if (this.#read.has(name)) continue;
      const known = this.#read.size === 0 ? 'it has none' : `it has ${[...this.#read].join(', ')}`;
      throw this.#refusal(`${kind} has no parameter ${name}; ${known}`);
    }
  }

  #text(name: string): string | undefined {
    this.#read.add(name);
    return this.#given.get(name);
  }

  #refusal(message: string): CqbatchError {
    return usageError('INVALID_OPTION', `${this.#option}: ${message}`);
  }
}
