import { type Delimiter, delimiterNames, delimiters } from '../base/text/delimiter.ts';
import { readDuration } from '../base/text/format.ts';
import { rateGroupNames } from '../domain/names.ts';
import type { RatePolicy } from '../engine/cluster/rate-policy.ts';
import { parseCondition } from '../engine/manifest/columns/condition.ts';
import type { Budget } from '../engine/run/record/budget.ts';
import type { FailureLimit } from '../engine/run/record/guards/guard.ts';

/** Each parser throws a RangeError with the correct form. */

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const howToWriteRates = 'write a rate as auto, 50/s, 600/m, 100/15s, auto..50/s or none';

/** Reads a rate: `50/s`, `600/m`, `1000/h` or `100/15s`; fractions of calls are allowed. */
function parseCallsPerSecond(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*\/\s*(?:(\d{1,6})\s*)?(s|m|h)(?:ec|in|our)?$/.exec(text.trim());
  const [calls, units] = [Number(match?.[1]), Number(match?.[2] ?? 1)];
  const unit = match?.[3] as keyof typeof unitMs | undefined;
  if (unit === undefined || !(calls > 0) || units === 0) throw new RangeError(howToWriteRates);
  const perSecond = (calls * 1_000) / (units * unitMs[unit]);
  if (perSecond > 1_000_000) throw new RangeError('a rate is at most 1000000/s');
  return perSecond;
}

/** Reads a bound of the rate: `auto`; `50/s` sets the rate; `auto..50/s` limits it; null for `none`, which means no limit. */
export function parseRate(text: string): RatePolicy | null {
  const trimmed = text.trim();
  if (trimmed === 'none') return null;
  if (trimmed === 'auto') return { text: trimmed, auto: true };
  const auto = trimmed.startsWith('auto..');
  const perSecond = parseCallsPerSecond(auto ? trimmed.slice('auto..'.length) : trimmed);
  return { text: trimmed, auto, perSecond };
}

/** A flag without a value means yes. */
export function parseSwitch(text: string): boolean {
  if (/^(yes|true|1)$/i.test(text.trim())) return true;
  if (/^(no|false|0)$/i.test(text.trim())) return false;
  throw new RangeError('write yes or no');
}

/** Reads the path of a metrics file: node_exporter reads only `.prom`. */
export function parseMetricsFile(text: string): string {
  const path = text.trim();
  if (/[^/\\]\.prom$/.test(path)) return path;
  throw new RangeError('write a file whose name ends in .prom; node_exporter reads no others');
}

export function parseRateGroup(text: string): string {
  if (!rateGroupNames.has(text.trim())) throw new RangeError(rateGroupNames.remedy);
  return text.trim();
}

export function parseConcurrency(text: string): number | 'auto' {
  if (text.trim() === 'auto') return 'auto';
  try {
    return parseInteger(0, 1_000)(text);
  } catch {
    throw new RangeError('write auto, or a whole number from 0 to 1000');
  }
}

/** Reads whole milliseconds, from 1 ms to `mostHours`, of `500ms`, `30s`, `2m`, `1h`; a bare number is seconds. */
export function parseDuration(text: string, mostHours = 24): number {
  const exact = readDuration(text);
  if (exact === undefined) throw new RangeError('write a duration as 500ms, 30s, 2m or 1h');
  const milliseconds = Math.round(exact);
  if (milliseconds < 1 || milliseconds > mostHours * unitMs.h)
    throw new RangeError(`a duration is from 1ms to ${mostHours}h`);
  return milliseconds;
}

/** Reads a duration of up to 30 days. */
export const parseLongDuration = (text: string): number => parseDuration(text, 30 * 24);

interface Canary {
  readonly rows: number;
  readonly random?: true;
  readonly pause?: true;
}

/** Reads a canary: `10` for the first rows, `10,random` for random ones, `10,pause` to pause after them. */
export function parseCanary(text: string): Canary {
  const [rows = '', ...words] = text.split(',').map((word) => word.trim());
  try {
    if (words.some((word) => word !== 'random' && word !== 'pause')) throw new RangeError(text);
    return {
      rows: parseInteger(1, 1_000_000)(rows),
      ...(words.includes('random') && { random: true }),
      ...(words.includes('pause') && { pause: true }),
    };
  } catch {
    throw new RangeError('write a number of rows from 1 to 1000000, such as 10, 10,random or 10,pause');
  }
}

/** Reads a time of day: `06:00`, `6:00 Europe/London` */
export function parseTimeOfDay(text: string): NonNullable<Budget['stopAt']> {
  const [, hour, minute, zone] = /^([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S+))?$/.exec(text.trim()) ?? [];
  if (hour === undefined)
    throw new RangeError("write a time of day as 06:00, or with its time zone as '06:00 Europe/London'");
  const time = `${hour.padStart(2, '0')}:${minute}`;
  return { time, ...(zone !== undefined && { timeZone: parseTimeZone(zone) }) };
}

export function parseTimeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text.trim() }).resolvedOptions().timeZone;
  } catch {
    throw new RangeError('write a time zone as Europe/London or UTC');
  }
}

/** Reads a value or `none`, which is null. */
export function orNone<Value>(parse: (text: string) => Value): (text: string) => Value | null {
  return (text) => {
    if (text.trim() === 'none') return null;
    try {
      return parse(text);
    } catch (error) {
      throw new RangeError(`${(error as Error).message}, or none`);
    }
  };
}

/** Reads how many rows may fail: `100` rows, `5%` of the rows, or `none`. */
export function parseFailureLimit(text: string): FailureLimit {
  const trimmed = text.trim();
  if (trimmed === 'none') return trimmed;
  const [, amount, sign] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(trimmed) ?? [];
  const value = Number(amount);
  if (sign === '%' && value > 0 && value <= 100) return { percent: value };
  if (sign === '' && Number.isSafeInteger(value)) return value;
  throw new RangeError('write a number of rows as 100, a share of them as 5%, or none');
}

/** Reads a size: `500MB`, `4GB`, `2GiB`; a bare number is bytes; `none` means infinity. */
export function parseSize(text: string): number {
  if (text.trim() === 'none') return Number.POSITIVE_INFINITY;
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(?:([kmgt]i?)?b)?$/i.exec(text.trim()) ?? [];
  const exponent = ['', 'k', 'm', 'g', 't'].indexOf(unit.charAt(0).toLowerCase());
  const bytes = Math.round(Number(amount) * (unit.length > 1 ? 1_024 : 1_000) ** exponent);
  if (!(bytes >= 1)) throw new RangeError('write a size as 500MB, 4GB, 2GiB or none');
  return bytes;
}

export function parseInteger(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text.trim()) || value < minimum || value > maximum) {
      throw new RangeError(`write a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

/** Reads an address such as `https://build.example/cqbatch`; the path of the result ends in a slash. */
export function parsePublicUrl(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const { protocol = '', username, password, search, hash } = url ?? {};
  if (url === undefined || !/^https?:$/.test(protocol) || username || password || search || hash)
    throw new RangeError('write the address that readers open, as https://build.example/cqbatch/');
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** Reads host names, each on a line or after a comma. */
export function parseHostNames(text: string): readonly string[] {
  const names = text.split(/[,\n]/).flatMap((name) => name.trim() || []);
  if (names.length === 0 || !names.every((name) => /^[\w.-]+$/.test(name)))
    throw new RangeError('write host names as worker-1.example.com, without scheme and port');
  return names;
}

export function parseChoice<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const chosen = words.find((word) => word === text.trim());
    if (chosen === undefined)
      throw new RangeError(`write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
    return chosen;
  };
}

/** Reads a prefix of keys that is valid in Redis and on command lines. */
export function parseQueuePrefix(text: string): string {
  if (!/^[\w.-]{1,64}$/.test(text))
    throw new RangeError('write a prefix with letters, digits, ".", "_" and "-"');
  return text;
}

/** The usual name of an encoding: `windows-1252` for `latin1`. */
export function parseEncoding(text: string): string {
  try {
    return new TextDecoder(text).encoding;
  } catch {
    throw new RangeError('write an encoding as windows-1252, iso-8859-15, utf-16le or macintosh');
  }
}

export function parseDelimiter(text: string): Delimiter {
  const delimiter = delimiterNames[text.trim()] ?? delimiters.find((each) => each === text);
  if (delimiter === undefined) throw new RangeError('write comma, semicolon, tab or pipe');
  return delimiter;
}

export function parseText(text: string): string {
  if (text.trim() === '') throw new RangeError('it must not be empty');
  return text;
}

/** Reads `Title of a column=field` on each line. A title may contain an equals sign, a field can't. */
export function parseColumnMap(text: string): Readonly<Record<string, string>> {
  return pairsOf(text, /^(.*)=(.*)$/, 'write the title of a column and a field, as "ID=evaluation_id"');
}

export function parseConditions(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines) parseCondition(line);
  return lines;
}

/** Reads `field=value` on each line. A value may contain an equals sign, a field can't. */
export function parseDefaults(text: string): Readonly<Record<string, string>> {
  return pairsOf(text, /^([^=]*)=(.*)$/, 'write a field and its value, as "user_id=u-17"');
}

function pairsOf(text: string, pattern: RegExp, howTo: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = (pattern.exec(line) ?? []).map((part) => part.trim());
      if (name === '' || value === '') throw new RangeError(howTo);
      return [name, value];
    }),
  );
}
