import { type AnswerHeaders, headerValues } from '../headers.ts';

/**
 * The waiting time of `RateLimit` in milliseconds (draft-ietf-httpapi-ratelimit-headers): the longest `t` of the limits
 * that are used up (`r=0`). A limit without `t` takes the window `w` of the `RateLimit-Policy` of the same name.
 *
 *     RateLimit-Policy: "burst";q=100;w=60
 *     RateLimit: "burst";r=0;t=30
 */
export function rateLimitMs(headers: AnswerHeaders): number | undefined {
  const policies = new Map(
    limits(headers, 'ratelimit-policy').map(({ name, parameters }) => [name, parameters]),
  );
  const waits = limits(headers, 'ratelimit')
    .filter(({ parameters }) => parameters.get('r') === 0)
    .map(({ name, parameters }) => parameters.get('t') ?? policies.get(name)?.get('w'))
    .filter((seconds) => seconds !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits) * 1000;
}

/**
 * The waiting time of `RateLimit-Reset` (older drafts: seconds) or `X-RateLimit-Reset` (no standard: seconds, or a time
 * in seconds or milliseconds since 1970) in milliseconds. They say nothing when the limit is not used up.
 *
 * @param now the server's time in milliseconds since 1970
 */
export function rateLimitResetMs(headers: AnswerHeaders, now: number): number | undefined {
  for (const prefix of ['ratelimit', 'x-ratelimit', 'x-rate-limit']) {
    const remaining = wholeNumber(headers, `${prefix}-remaining`);
    const reset = wholeNumber(headers, `${prefix}-reset`);
    if (reset === undefined || (remaining !== undefined && remaining > 0)) continue;
    return resetMs(reset, now);
  }
  return undefined;
}

function resetMs(value: number, now: number): number {
  if (value < 1e9) return value * 1000;
  return Math.max(0, (value < 1e12 ? value * 1000 : value) - now);
}

function wholeNumber(headers: AnswerHeaders, name: string): number | undefined {
  const value = headerValues(headers, name)[0]?.trim();
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}

interface Limit {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, number>;
}

/** An item of a structured list (RFC 9651): a string or a token, then parameters. */
const listItem =
  /\s*("(?:[^"\\]|\\.)*"|[A-Za-z*][^\s,;="]*)((?:\s*;\s*[a-z*][\w.*-]*(?:=(?:"(?:[^"\\]|\\.)*"|[^\s,;"]*))?)*)\s*(?:,|$)/y;
const integerParameter = /;\s*([a-z*][\w.*-]*)=(\d{1,15})(?=\s*(?:;|$))/g;

/** The limits of a list header with their integer parameters; nothing when it is malformed (RFC 9651, section 4.2). */
function limits(headers: AnswerHeaders, name: string): readonly Limit[] {
  const text = headerValues(headers, name).join(',').slice(0, 4096).trim();
  const found: Limit[] = [];
  listItem.lastIndex = 0;
  while (listItem.lastIndex < text.length) {
    const match = listItem.exec(text);
    if (match === null) return [];
    const parameters = [...(match[2] ?? '').matchAll(integerParameter)];
    found.push({
      name: match[1] ?? '',
      parameters: new Map(parameters.map((parameter) => [parameter[1] ?? '', Number(parameter[2])])),
    });
  }
  return found;
}
