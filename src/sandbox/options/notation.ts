import { type CqbatchError, usageError } from '../../errors.ts';
import { readDuration } from '../../text/quantities.ts';

/** An option: what it is when it isn't given, and how its text is read. Messages begin with `option`, its flag. */
export interface Option<
  Default extends string | number | boolean = string | number | boolean,
  Value = unknown,
> {
  readonly byDefault: Default;
  /** @throws CqbatchError `INVALID_OPTION`, as does everything below. */
  readonly read: (option: string, text: string) => Value;
  /** All that it can be, where that is a few words. */
  readonly words?: readonly string[];
  readonly help: OptionHelp;
}

/** Heading of its group, what stands for its value, what it is for, and what is to be said of its default. */
type OptionHelp = readonly [group: string, value: string, purpose: string, ofDefault?: string];

export type Options = Readonly<Record<string, Option>>;

/** What users give: the texts of the command line, or numbers and booleans in their place. */
export type Given<Table extends Options> = {
  readonly [Name in keyof Table]?: Table[Name]['byDefault'] extends boolean
    ? boolean
    : Table[Name]['byDefault'] extends number
      ? string | number
      : string;
};

export type Values<Table extends Options> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>;
};

/** Reads the options of a table, which may be given among others. */
export function readOptions<Table extends Options>(table: Table, given: Given<Table>): Values<Table> {
  const values = Object.entries(table).map(([name, { byDefault, read }]) => [
    name,
    read(flagOf(name), String(given[name as keyof Table] ?? byDefault)),
  ]);
  return Object.fromEntries(values);
}

/** `--error-style` for `errorStyle`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function invalidOption(option: string, message: string): CqbatchError {
  return usageError('INVALID_OPTION', `${option}: ${message}`);
}

/** An option that is one of a few words, the first by default. */
export function choice<Word extends string>(words: readonly [Word, ...Word[]], help: OptionHelp) {
  return {
    byDefault: words[0],
    read: (option: string, text: string) => parseWord(option, text, words),
    words,
    help,
  };
}

export function parseWord<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) {
    throw invalidOption(option, `${JSON.stringify(text)} is none of ${words.join(', ')}`);
  }
  return word;
}

/** An option that is a whole number within bounds. */
export function wholeNumber(
  byDefault: number,
  { min = 0, max }: { readonly min?: number; readonly max: number },
  help: OptionHelp,
) {
  return {
    byDefault,
    help,
    read(option: string, text: string): number {
      const number = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
      if (number >= min && number <= max) return number;
      throw invalidOption(option, `${JSON.stringify(text)} is no whole number from ${min} to ${max}`);
    },
  };
}

/** Milliseconds from `min` to `max`, both included. */
export interface DurationRange {
  readonly min: number;
  readonly max: number;
}

/** The longest time that a Node.js timer can wait. */
const longest = 2 ** 31 - 1;

/** Reads a duration such as `50ms`, `1.5s`, `2m` or `24h`, in milliseconds to the thousandth. */
export function parseDuration(option: string, text: string): number {
  const duration = readDuration(text);
  if (duration === undefined || duration > longest) {
    throw invalidOption(option, `${JSON.stringify(text)} is no duration; write it as 50ms, 1.5s, 2m or 24h`);
  }
  return duration;
}

/** Reads a duration or a range of durations such as `20ms..80ms`. */
export function parseDurationRange(option: string, text: string): DurationRange {
  const [first = '', second = first, ...more] = text.split('..');
  const range = { min: parseDuration(option, first), max: parseDuration(option, second) };
  if (more.length > 0 || range.min > range.max) {
    throw invalidOption(
      option,
      `${JSON.stringify(text)} is no range; write the shorter duration first, such as 20ms..80ms`,
    );
  }
  return range;
}

/** A share of a whole in millionths: exact for percentages of up to four decimals. */
export type Millionths = number;

export const whole: Millionths = 1_000_000;

/** Reads a share: a percentage such as `2%` or `0.05%`, from 0 to 100, of up to four decimals. */
export function parseShare(option: string, text: string): Millionths {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text.trim()) ?? [];
  const share = Math.round(Number(digits) * 10_000);
  if (digits === undefined || share > whole) {
    throw invalidOption(
      option,
      `${JSON.stringify(text)} is no share; write a percentage from 0% to 100%, such as 0.5%`,
    );
  }
  return share;
}

/** Reads `name=value,name=value`: names are made of letters, digits and hyphens and come once. */
export function parseAssignments(option: string, text: string): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  for (const part of text.split(',')) {
    const [, name, value] = /^([a-z\d-]+)\s*=\s*(\S.*)$/is.exec(part.trim()) ?? [];
    if (name === undefined || value === undefined) {
      throw invalidOption(option, `${JSON.stringify(part.trim())} is not of the form name=value`);
    }
    if (result.has(name)) throw invalidOption(option, `${name} is given twice`);
    result.set(name, value);
  }
  return result;
}
