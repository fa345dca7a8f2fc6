import { readMoment, unixTimeMs } from '../../base/text/moment.ts';
import { type AnswerHeaders, httpDateMs, serverTime } from './headers.ts';

/** The longest wait that is kept: an API with a daily quota may ask to wait until midnight. */
export const maxWaitMs = 86_400_000;

const namedFromMs = 60_000;

export interface AskedWait {
  readonly ms: number;
  /** The header that asks for more than a minute: `Retry-After: 7200`. */
  readonly askedBy: string | undefined;
}

export type IgnoredWaits = Map<string, string>;

const leastUnixSeconds = 1e9;

interface WaitForm {
  /** The unit of a bare number. Default: seconds, or a Unix time. */
  readonly unit?: 'milliseconds';
  /** The whole value of the header, if the text is a part of it. Default: the text. */
  readonly shown?: string;
}

/**
 * Reads every text that says how long to wait, whichever header it comes from. Accepts a wait of 0 to 24 hours:
 *
 * - a number of seconds (or milliseconds, by the header's name), with or without decimals, and with or without an `s` (Protocol Buffers);
 * - a number from 10^9, a Unix time in seconds, or from 10^12 in milliseconds;
 * - a duration with units: `120ms`, `1m6s` (Azure OpenAI);
 * - a time: an HTTP date, ISO 8601, or the text of a JavaScript `Date`.
 *
 * Times are relative to the answer's own `Date`, so that a wrong clock here does no harm; a time that has passed is a wait of 0. Other
 * texts, such as `-5` and `1e20`, are ignored, because one wrong value would stop all runs for a day.
 */
export class WaitReader {
  readonly #headers: AnswerHeaders;
  readonly #now: number;
  readonly #ignored: IgnoredWaits | undefined;
  #serverNow: number | undefined;

  /**
   * @param now milliseconds since 1970, for answers without a `Date`
   * @param ignored collects ignored texts by header
   */
  constructor(headers: AnswerHeaders, now: number, ignored?: IgnoredWaits) {
    this.#headers = headers;
    this.#now = now;
    this.#ignored = ignored;
  }

  /** Reads a wait. @param header its name as people write it */
  read(header: string, value: string, { unit, shown = value }: WaitForm = {}): AskedWait | undefined {
    const text = value.trim();
    const ms = unit === 'milliseconds' ? decimal(text) : this.#ms(text);
    if (ms !== undefined && ms <= maxWaitMs)
      return { ms: Math.ceil(ms), askedBy: ms > namedFromMs ? `${header}: ${shown.trim()}` : undefined };
    this.#ignored?.set(header, shown);
    return undefined;
  }

  #ms(text: string): number | undefined {
    const number = decimal(text.replace(/s$/, ''));
    if (number === undefined) return durationMs(text) ?? this.#untilMs(timeMs(text));
    return number < leastUnixSeconds ? number * 1_000 : this.#untilMs(unixTimeMs(number));
  }

  #untilMs(at: number | undefined): number | undefined {
    if (at === undefined) return undefined;
    this.#serverNow ??= serverTime(this.#headers, this.#now);
    return Math.max(0, at - this.#serverNow);
  }
}

function decimal(text: string): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

const duration = /^(?=\d)(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;

function durationMs(text: string): number | undefined {
  const match = duration.exec(text);
  if (match === null) return undefined;
  const [hours, minutes, seconds, milliseconds] = match.slice(1).map((part) => Number(part ?? 0));
  return 3_600_000 * (hours ?? 0) + 60_000 * (minutes ?? 0) + 1_000 * (seconds ?? 0) + (milliseconds ?? 0);
}

/** A time as JavaScript writes it: `Wed May 01 2024 12:00:30 GMT+0200 (Central European Summer Time)`. */
const javaScriptDate =
  /^[A-Z][a-z]{2} ([A-Z][a-z]{2} \d{2} \d{4} \d{2}:\d{2}:\d{2} GMT[+-]\d{4})(?: \([^)]*\))?$/;

/** A text as milliseconds since 1970. A text without a time of day is no time to wait for. */
function timeMs(text: string): number | undefined {
  const [, date] = javaScriptDate.exec(text) ?? [];
  if (date !== undefined) return validTime(Date.parse(date));
  return httpDateMs(text) ?? (/\d[T ]\d\d:/.test(text) ? readMoment(text) : undefined);
}

function validTime(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms;
}
