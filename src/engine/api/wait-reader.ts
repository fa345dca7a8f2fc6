import { unixTimeMs } from '../../base/text/moment.ts';
import { type AnswerHeaders, httpDateMs, serverTime } from './headers.ts';

/** An API with a daily quota may ask to wait until midnight. */
export const maxWaitMs = 86_400_000;

const namedFromMs = 60_000;

export interface AskedWait {
  readonly ms: number;
  /** What asks for more than a minute: `Retry-After: 7200`. */
  readonly by: string | undefined;
}

export type IgnoredWaits = Map<string, string>;

const leastUnixSeconds = 1e9;

/**
 * Accepts a wait of 0 to 24 hours:
 *
 * - a number of seconds, with or without decimals;
 * - a number from 10^9, a Unix time in seconds, or from 10^12 in milliseconds;
 * - an HTTP date, where the standard allows one.
 *
 * Times are relative to the answer's own `Date`, so that a wrong clock here does no harm; a time that has passed is a wait of 0. Other
 * texts are ignored, because one wrong value would stop all runs for a day.
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

  /**
   * @param header its name as people write it
   * @param shown the whole value, if `value` is a part
   */
  seconds(header: string, value: string, shown = value): AskedWait | undefined {
    return this.#accepted(header, shown, this.#secondsMs(value.trim()));
  }

  /** With its unit: `1.5s`. */
  duration(header: string, value: string): AskedWait | undefined {
    const ms = value.endsWith('s') ? this.#secondsMs(value.slice(0, -1)) : undefined;
    return this.#accepted(header, value, ms);
  }

  secondsOrDate(header: string, value: string): AskedWait | undefined {
    const text = value.trim();
    const date = httpDateMs(text);
    return this.#accepted(header, text, date === undefined ? this.#secondsMs(text) : this.#untilMs(date));
  }

  #accepted(header: string, value: string, ms: number | undefined): AskedWait | undefined {
    if (ms !== undefined && ms <= maxWaitMs)
      return { ms: Math.ceil(ms), by: ms > namedFromMs ? `${header}: ${value.trim()}` : undefined };
    this.#ignored?.set(header, value);
    return undefined;
  }

  #secondsMs(text: string): number | undefined {
    if (!/^\d+(?:\.\d+)?$/.test(text)) return undefined;
    const number = Number(text);
    return number < leastUnixSeconds ? number * 1_000 : this.#untilMs(unixTimeMs(number));
  }

  #untilMs(at: number): number {
    this.#serverNow ??= serverTime(this.#headers, this.#now);
    return Math.max(0, at - this.#serverNow);
  }
}
