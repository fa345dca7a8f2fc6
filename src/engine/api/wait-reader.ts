import { unixTimeMs } from '../../base/text/moment.ts';
import { type AnswerHeaders, httpDateMs, serverTime } from './headers.ts';

/** The longest accepted wait, in milliseconds: 24 hours, because an API with a daily quota may ask to wait until midnight. */
export const maxWaitMs = 86_400_000;

/** A longer wait, in milliseconds, gets an explanation for the user (`by`). */
const namedFromMs = 60_000;

/** A wait that an answer asks for. */
export interface AskedWait {
  /** Whole milliseconds from 0 to `maxWaitMs`. */
  readonly ms: number;
  /** What asks for a wait of more than a minute, and its value: `Retry-After: 7200`. */
  readonly by: string | undefined;
}

/** Waits that are not accepted, by the header that states them. */
export type IgnoredWaits = Map<string, string>;

/** From this number on, a number of seconds is a Unix time. */
const leastUnixSeconds = 1e9;

/**
 * Reads what an answer says about waiting. A text is accepted if it means a wait of 0 to 24 hours:
 *
 * - a number of seconds, even with decimals as some servers send them;
 * - a number from 10^9, a Unix time in seconds, or from 10^12 in milliseconds;
 * - an HTTP date, where the standard allows one.
 *
 * Times are taken relative to the answer's own `Date`, so that a wrong clock on this machine does no harm; a time that has
 * passed is a wait of 0. Every other text is ignored, because one wrong value would stop all runs for a day.
 */
export class WaitReader {
  readonly #headers: AnswerHeaders;
  readonly #now: number;
  readonly #ignored: IgnoredWaits | undefined;
  #serverNow: number | undefined;

  /**
   * @param now milliseconds since 1970, for answers without a `Date`
   * @param ignored collects the texts that are ignored
   */
  constructor(headers: AnswerHeaders, now: number, ignored?: IgnoredWaits) {
    this.#headers = headers;
    this.#now = now;
    this.#ignored = ignored;
  }

  /**
   * @param header the name of the header as people write it
   * @param shown the whole value of the header, if `value` is a part
   */
  seconds(header: string, value: string, shown = value): AskedWait | undefined {
    return this.#accepted(header, shown, this.#secondsMs(value.trim()));
  }

  /** Seconds with their unit: `1.5s`. */
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
