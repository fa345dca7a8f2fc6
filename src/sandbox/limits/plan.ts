import { usageError } from '../../errors.ts';
import { invalidOption, parseAssignments, parseDuration, parseWord } from '../options/notation.ts';
import { LeakyBucket, TokenBucket } from './buckets.ts';
import type { Admission, Limiter } from './limiter.ts';
import { Concurrency, dailyQuota, FixedWindow, SlidingWindow } from './windows.ts';

/** A limit, and those that take its place one after the other. */
export interface LimitPlan {
  readonly first: LimitSettings;
  readonly changes: readonly LimitChange[];
}

interface LimitChange {
  /** Milliseconds since the limit before came into force; for the first change, since the first request. */
  readonly after: number;
  readonly limit: LimitSettings;
}

interface LimitSettings {
  readonly kind: keyof typeof kinds;
  /** Whether all requests share one allowance, or every token has one of its own. */
  readonly per?: 'all' | 'token';
}

/** Reads a parameter of a limit, `undefined` when it isn't given. `option` is its name in messages. */
type Reader<Value> = (option: string, text: string | undefined) => Value;

interface LimitKind {
  readonly parameters: Readonly<Record<string, Reader<unknown>>>;
  /** Makes the limiter from the settings that the parameters make up. */
  readonly create: (settings: LimitSettings) => Limiter;
}

const per = oneOf('all', 'token');

const kinds = {
  none: kind({}, () => unlimited),
  'token-bucket': kind(
    { rate: number(0.001), burst: optional(number(1)), per },
    (settings) => new TokenBucket(settings),
  ),
  'leaky-bucket': kind(
    { rate: number(0.001), queue: wholeNumber(0), per },
    (settings) => new LeakyBucket(settings),
  ),
  'fixed-window': kind(
    { limit: wholeNumber(1), window: milliseconds, align: oneOf('clock', 'first'), per },
    (settings) => new FixedWindow(settings),
  ),
  'sliding-window': kind(
    { limit: wholeNumber(1), window: milliseconds, per },
    (settings) => new SlidingWindow(settings),
  ),
  concurrency: kind({ limit: wholeNumber(1), per }, (settings) => new Concurrency(settings)),
  'daily-quota': kind({ limit: wholeNumber(1), per }, dailyQuota),
};

function kind<const Parameters extends LimitKind['parameters']>(
  parameters: Parameters,
  create: (settings: { readonly [Name in keyof Parameters]: ReturnType<Parameters[Name]> }) => Limiter,
): LimitKind {
  return { parameters, create: create as LimitKind['create'] };
}

/** Has nothing to say about what it admits. */
const unlimited: Limiter = { admit: () => ({ admitted: true }) };

/** Follows a plan from the first request on. Each limit starts with nothing used up. */
export class PlannedLimiter implements Limiter {
  readonly #coming: LimitChange[];
  #limiter: Limiter;
  #since: number | undefined;

  constructor({ first, changes }: LimitPlan) {
    this.#limiter = createLimiter(first);
    this.#coming = [...changes];
  }

  admit(now: number, token: string): Admission {
    this.#since ??= now;
    for (let next = this.#coming[0]; next && now >= this.#since + next.after; next = this.#coming[0]) {
      this.#since += next.after;
      this.#limiter = createLimiter(next.limit);
      this.#coming.shift();
    }
    return this.#limiter.admit(now, token);
  }
}

function createLimiter(settings: LimitSettings): Limiter {
  const create = () => kinds[settings.kind].create(settings);
  if (settings.per !== 'token') return create();
  const limiters = new Map<string, Limiter>();
  return {
    admit(now, token) {
      const limiter = limiters.get(token) ?? create();
      limiters.set(token, limiter);
      return limiter.admit(now, token);
    },
  };
}

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
  if (!isKind(kind)) {
    const known = Object.keys(kinds).join(', ');
    throw invalidOption(option, `there is no limit ${JSON.stringify(kind)}; known limits: ${known}`);
  }
  const { parameters } = kinds[kind];
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
  return { kind, ...Object.fromEntries(settings) };
}

function isKind(kind: string): kind is keyof typeof kinds {
  return Object.hasOwn(kinds, kind);
}

/** A number of at most nine digits before and after the point. */
function number(min: number, form = /^\d{1,9}(\.\d{1,9})?$/, what = 'a number'): Reader<number> {
  return (option, text = '') => {
    const value = form.test(text) ? Number(text) : Number.NaN;
    if (value >= min) return value;
    throw mustBe(option, `${what}, ${min} or more`);
  };
}

/** A whole number of at most nine digits. */
function wholeNumber(min: number): Reader<number> {
  return number(min, /^\d{1,9}$/, 'a whole number');
}

/** A duration of one or more whole milliseconds. */
function milliseconds(option: string, text: string | undefined): number {
  const value = text === undefined ? Number.NaN : parseDuration(option, text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw mustBe(option, 'a duration of whole milliseconds, such as 500ms, 1m or 24h');
}

/** One of a few words, the first by default. */
function oneOf<const Word extends string>(...words: readonly [Word, ...Word[]]): Reader<Word> {
  return (option, text = words[0]) => parseWord(option, text, words);
}

function optional<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (option, text) => (text === undefined ? undefined : read(option, text));
}

function mustBe(parameter: string, what: string) {
  return usageError('INVALID_OPTION', `${parameter} must be given as ${what}`);
}
