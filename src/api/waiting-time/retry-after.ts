/**
 * The waiting time of a `Retry-After` field in milliseconds (RFC 9110, section 10.2.3): seconds, also with decimals as
 * some servers send them, or an HTTP date. A date in the past means 0; undefined when the value is malformed.
 *
 * @param now the server's time in milliseconds since 1970
 */
export function retryAfterMs(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = httpDateMs(text);
  return date === undefined ? undefined : Math.max(0, date - now);
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
