import { type CqbatchError, usageError } from '../base/errors/errors.ts';
import { readDuration } from '../base/text/format.ts';

export interface Option<Value = unknown> {
  readonly byDefault: string;
  /** @throws CqbatchError `INVALID_OPTION`, like all functions below */
  readonly read: (option: string, text: string) => Value;
  readonly help: OptionHelp;
}

type OptionHelp = readonly [group: string, value: string, purpose: string];

export type Options = Readonly<Record<string, Option>>;

export type GivenOptions<Table extends Options> = {
  readonly [Name in keyof Table]?: string | number | boolean;
};

export type OptionValues<Table extends Options> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>;
};

/** Ignores other options. */
export function readOptions<Table extends Options>(
  table: Table,
  given: GivenOptions<Table>,
): OptionValues<Table> {
  const values = Object.entries(table).map(([name, { byDefault, read }]) => [
    name,
    read(flagOf(name), String(given[name as keyof Table] ?? byDefault)),
  ]);
  return Object.fromEntries(values);
}

/** The flag of an option: `--limit-status` for `limitStatus`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function invalidOption(option: string, message: string): CqbatchError {
  return usageError('INVALID_OPTION', `${option}: ${message}`);
}

/** An option without a value. */
export function flagOption([group, purpose]: readonly [group: string, purpose: string]) {
  const read = (option: string, text: string): boolean => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw invalidOption(option, 'write true or false');
  };
  return { byDefault: 'false', read, help: [group, '', purpose] as const };
}

/** The first word is the default. */
export function choice<const Word extends string>(
  words: readonly [Word, ...Word[]],
  [group, value, purpose]: OptionHelp,
) {
  const read = (option: string, text: string) => parseWord(option, text, words);
  return { byDefault: words[0], read, help: [group, value, `${purpose}: ${words.join(', ')}`] as const };
}

export function parseWord<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw invalidOption(option, `${JSON.stringify(text)} is not one of ${words.join(', ')}`);
}

/** The largest 64-bit signed integer. */
export const maxIdentifier = 2n ** 63n - 1n;

export function wholeNumber(byDefault: number, max: bigint, help: OptionHelp) {
  const read = (option: string, text: string): bigint => {
    const number = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
    if (number !== undefined && number <= max) return number;
    throw invalidOption(option, `${JSON.stringify(text)} is not a whole number from 0 to ${max}`);
  };
  return { byDefault: String(byDefault), read, help };
}

/** A range of milliseconds, both ends inclusive. */
export interface DurationRange {
  readonly min: number;
  readonly max: number;
}

/** The most milliseconds that a Node.js timer can wait. */
export const longestTimer = 2 ** 31 - 1;

/** Reads `50ms`, `1.5s`, `2m` or `24h` as milliseconds, to the thousandth. */
export function parseDuration(option: string, text: string): number {
  const duration = readDuration(text);
  if (duration !== undefined && duration <= longestTimer) return duration;
  throw invalidOption(option, `${JSON.stringify(text)} is not a duration; write it as 50ms, 1.5s, 2m or 24h`);
}

/** Reads a duration or a range such as `20ms..80ms`. */
export function parseDurationRange(option: string, text: string): DurationRange {
  const [first = '', second = first, ...more] = text.split('..');
  const range = { min: parseDuration(option, first), max: parseDuration(option, second) };
  if (more.length === 0 && range.min <= range.max) return range;
  throw invalidOption(option, `${JSON.stringify(text)} is not a range; write the shorter first: 20ms..80ms`);
}

/** A share in millionths, exact for percentages of up to four decimals. */
export type Millionths = number;

export const wholeShare: Millionths = 1_000_000;

/** Reads a percentage from 0 to 100, of up to four decimals: `0.05%`. */
export function parseShare(option: string, text: string): Millionths {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text.trim()) ?? [];
  const share = Math.round(Number(digits) * 10_000);
  if (share <= wholeShare) return share;
  throw invalidOption(option, `${JSON.stringify(text)} is not a share; write a percentage such as 0.5%`);
}

/** Reads `name=value,name=value`, with unique names of letters, digits and hyphens. */
export function parseAssignments(option: string, text: string): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  for (const part of text.split(',')) {
    const [, name, value] = /^([a-z\d-]+)\s*=\s*(\S.*)$/is.exec(part.trim()) ?? [];
    if (name === undefined || value === undefined) {
      throw invalidOption(option, `${JSON.stringify(part.trim())} is not in the form name=value`);
    }
    if (result.has(name)) throw invalidOption(option, `${name} appears twice`);
    result.set(name, value);
  }
  return result;
}
