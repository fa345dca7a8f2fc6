import { invalidOption, parseAssignments, parseDuration, parseWord } from '../notation.ts';
import {
  concurrency,
  fixedWindow,
  type Limiter,
  leakyBucket,
  slidingWindow,
  tokenBucket,
} from './limiters.ts';

/** Reads a parameter, if it is given; `option` is its name in messages. */
type Reader<Value> = (option: string, text: string | undefined) => Value;

interface LimitKind {
  readonly parameters: Readonly<Record<string, Reader<unknown>>>;
  readonly create: (settings: object) => Limiter;
}

const per = oneOf('all', 'token');
const align = oneOf('clock', 'first');
const burst: Reader<number | undefined> = (option, text) =>
  text === undefined ? undefined : number(1)(option, text);
/** Milliseconds. Days since 1970 begin at midnight UTC and have no leap seconds. */
const day = 86_400_000;

const limitKinds: Readonly<Record<string, LimitKind>> = {
  none: limitKind({}, () => ({ admit: () => ({ isAdmitted: true }) })),
  'token-bucket': limitKind({ rate: number(0.001), burst, per }, tokenBucket),
  'leaky-bucket': limitKind({ rate: number(0.001), queue: wholeNumber(0), per }, leakyBucket),
  'fixed-window': limitKind({ limit: wholeNumber(1), window: milliseconds, align, per }, fixedWindow),
  'sliding-window': limitKind({ limit: wholeNumber(1), window: milliseconds, per }, slidingWindow),
  concurrency: limitKind({ limit: wholeNumber(1), per }, concurrency),
  'daily-quota': limitKind({ limit: wholeNumber(1), per }, ({ limit }) =>
    fixedWindow({ limit, window: day, align: 'clock' }),
  ),
};

function limitKind<const Parameters extends LimitKind['parameters']>(
  parameters: Parameters,
  create: (settings: { readonly [Name in keyof Parameters]: ReturnType<Parameters[Name]> }) => Limiter,
): LimitKind {
  return { parameters, create: create as LimitKind['create'] };
}

/**
 * Reads a limit and the limits that replace it later: `token-bucket:rate=50 then 30s token-bucket:rate=10 then 1m none`. Times count from
 * the first request. Each limit starts with its whole allowance.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseLimitPlan(option: string, text: string): Limiter {
  const [first = '', ...changes] = text.split(/\s+then(?:\s+|$)/);
  let limiter = parseLimit(option, first)();
  const coming = changes.map((change) => parseChange(option, change));
  let since: number | undefined;
  return {
    admit(now, token) {
      since ??= now;
      for (let next = coming[0]; next && now >= since + next.after; next = coming[0]) {
        since += next.after;
        limiter = next.create();
        coming.shift();
      }
      return limiter.admit(now, token);
    },
  };
}

/** A later limit, and the milliseconds for which the previous one applies. */
function parseChange(option: string, text: string) {
  // A blank may separate a unit from its number, and the name of a limit is longer than any unit.
  const [, after, limit] = /^(\S.*?)\s+([a-z-]{3,}.*)$/s.exec(text.trim()) ?? [];
  if (after === undefined || limit === undefined) {
    throw invalidOption(option, 'write a duration and a limit after "then": then 30s token-bucket:rate=10');
  }
  return { after: parseDuration(`${option}: then`, after), create: parseLimit(option, limit) };
}

/** `none`, or a kind and its parameters: `token-bucket:rate=50,burst=10,per=token`. */
function parseLimit(option: string, text: string): () => Limiter {
  const [, name = '', rest] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  const kind = Object.hasOwn(limitKinds, name) ? limitKinds[name] : undefined;
  if (kind === undefined) {
    const names = Object.keys(limitKinds).join(', ');
    throw invalidOption(option, `unknown limit ${JSON.stringify(name)}; known limits: ${names}`);
  }
  const assigned = rest === undefined ? new Map<string, string>() : parseAssignments(option, rest);
  for (const parameter of assigned.keys()) {
    if (Object.hasOwn(kind.parameters, parameter)) continue;
    const names = Object.keys(kind.parameters).join(', ') || 'none';
    throw invalidOption(option, `${name} has no parameter ${parameter}; known parameters: ${names}`);
  }
  const settings = Object.fromEntries(
    Object.entries(kind.parameters).map(([name, read]) => [
      name,
      read(`${option}: ${name}`, assigned.get(name)),
    ]),
  );
  const create = () => kind.create(settings);
  return settings['per'] === 'token' ? () => ofEachToken(create) : create;
}

function ofEachToken(create: () => Limiter): Limiter {
  const limiters = new Map<string, Limiter>();
  return {
    admit(now, token) {
      const limiter = limiters.get(token) ?? create();
      limiters.set(token, limiter);
      return limiter.admit(now, token);
    },
  };
}

/** Reads a number of at most nine digits before and after the point. */
function number(min: number, form = /^\d{1,9}(\.\d{1,9})?$/, what = 'a number'): Reader<number> {
  return (option, text = '') => {
    const value = form.test(text) ? Number(text) : Number.NaN;
    if (value >= min) return value;
    throw invalidOption(option, `must be given as ${what}, ${min} or more`);
  };
}

/** Reads a whole number of at most nine digits. */
function wholeNumber(min: number): Reader<number> {
  return number(min, /^\d{1,9}$/, 'a whole number');
}

function milliseconds(option: string, text: string | undefined): number {
  const value = text === undefined ? Number.NaN : parseDuration(option, text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw invalidOption(option, 'must be given as a duration of whole milliseconds, such as 500ms, 1m or 24h');
}

/** The first word is the default. */
function oneOf<const Word extends string>(...words: readonly [Word, ...Word[]]): Reader<Word> {
  return (option, text = words[0]) => parseWord(option, text, words);
}
