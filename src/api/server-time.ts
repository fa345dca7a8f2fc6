import { type AnswerHeaders, headerValues } from './headers.ts';

/**
 * The server's time in milliseconds since 1970: that of the answer's own `Date` (RFC 9110, section 6.6.1), so that a
 * clock that is wrong here does no harm.
 *
 * @param now milliseconds since 1970, for answers without a `Date`
 */
export function serverTime(headers: AnswerHeaders, now: number): number {
  for (const value of headerValues(headers, 'date')) {
    const time = httpDateMs(value);
    if (time !== undefined) return time;
  }
  return now;
}

/** An HTTP date (RFC 9110, section 5.6.7), also in its two obsolete forms, in milliseconds since 1970. */
export function httpDateMs(value: string): number | undefined {
  const text = value.trim();
  const withZone = asctimeDate.test(text) ? `${text} GMT` : text;
  if (!imfFixdate.test(withZone) && !rfc850Date.test(withZone) && withZone === text) return undefined;
  const milliseconds = Date.parse(withZone);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850Date = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
