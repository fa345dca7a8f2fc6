import { usageError } from '../../errors.ts';
import type { LimitChange, LimitPlan, LimitSettings } from '../limits/limit-plan.ts';
import { invalidOption, parseAssignments, parseDuration, parseWord } from './notation.ts';

/** Reads a parameter of a limit, `undefined` when it isn't given. `option` is its name in messages. */
type Reader<Value> = (option: string, text: string | undefined) => Value;

type LimitKind = LimitSettings['kind'];
type SettingsOf<Kind extends LimitKind> = Extract<LimitSettings, { readonly kind: Kind }>;

const per = oneOf('all', 'token');

/** The parameters of each kind of limit. */
const readers: {
  readonly [Kind in LimitKind]: {
    readonly [Name in Exclude<keyof SettingsOf<Kind>, 'kind'>]: Reader<SettingsOf<Kind>[Name]>;
  };
} = {
  none: {},
  'token-bucket': { rate: number(0.001), burst: optional(number(1)), per },
  'leaky-bucket': { rate: number(0.001), queue: wholeNumber(0), per },
  'fixed-window': { limit: wholeNumber(1), window: milliseconds, align: oneOf('clock', 'first'), per },
  'sliding-window': { limit: wholeNumber(1), window: milliseconds, per },
  concurrency: { limit: wholeNumber(1), per },
  'daily-quota': { limit: wholeNumber(1), per },
};

/**
 * Reads a limit, and those that take its place: `token-bucket:rate=50 then 30s token-bucket:rate=10 then 1m none`.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseLimitPlan(option: string, text: string): LimitPlan {
  const [first = '', ...changes] = text.split(/\s+then(?:\s+|$)/);
  return {
    first: parseLimit(option, first),
    changes: changes.map((change) => parseChange(option, change)),
  };
}

function parseChange(option: string, text: string): LimitChange {
  // A unit may stand apart from its number, and no kind of limit has a name as short.
  const [, after, limit] = /^(\S.*?)\s+([a-z-]{3,}.*)$/s.exec(text.trim()) ?? [];
  if (after === undefined || limit === undefined) {
    throw invalidOption(
      option,
      'write a duration and a limit after "then", such as then 30s token-bucket:rate=10',
    );
  }
  return { after: parseDuration(`${option}: then`, after), limit: parseLimit(option, limit) };
}

/** Reads `none`, or a kind and its parameters, such as `token-bucket:rate=50,burst=10,per=token`. */
function parseLimit(option: string, text: string): LimitSettings {
  const [, kind = '', rest] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  if (!Object.hasOwn(readers, kind)) {
    const known = Object.keys(readers).join(', ');
    throw invalidOption(option, `there is no limit ${JSON.stringify(kind)}; known limits: ${known}`);
  }
  const parameters: Readonly<Record<string, Reader<unknown>>> = readers[kind as LimitKind];
  const given = rest === undefined ? new Map<string, string>() : parseAssignments(option, rest);
  for (const name of given.keys()) {
    if (Object.hasOwn(parameters, name)) continue;
    const known = Object.keys(parameters).join(', ') || 'none';
    throw invalidOption(option, `${kind} has no parameter ${name}; it has ${known}`);
  }
  const settings = Object.entries(parameters).map(([name, read]) => [
    name,
    read(`${option}: ${name}`, given.get(name)),
  ]);
  return { kind, ...Object.fromEntries(settings) } as LimitSettings;
}

/** A number of at most nine digits before and after the point. */
function number(min: number): Reader<number> {
  return (option, text = '') => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min) return value;
    throw mustBe(option, `a number, ${min} or more`);
  };
}

/** A whole number of at most nine digits. */
function wholeNumber(min: number): Reader<number> {
  return (option, text = '') => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min) return value;
    throw mustBe(option, `a whole number, ${min} or more`);
  };
}

/** A duration of one or more whole milliseconds. */
function milliseconds(option: string, text: string | undefined): number {
  const value = text === undefined ? Number.NaN : parseDuration(option, text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw mustBe(option, 'a duration of whole milliseconds, such as 500ms, 1m or 24h');
}

/** One of a few words, the first by default. */
function oneOf<Word extends string>(...words: readonly [Word, ...Word[]]): Reader<Word> {
  return (option, text = words[0]) => parseWord(option, text, words);
}

function optional<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (option, text) => (text === undefined ? undefined : read(option, text));
}

function mustBe(parameter: string, what: string) {
  return usageError('INVALID_OPTION', `${parameter} must be given as ${what}`);
}
