/**
 * The waiting time of a `google.rpc.RetryInfo` in the details of an error body, in milliseconds
 * (`google/rpc/error_details.proto`). The delay is a Protocol Buffers duration: `"30s"`, `"1.5s"`, or
 * `{"seconds":1,"nanos":500000000}` as some servers write it.
 */
export function retryInfoMs(body: unknown): number | undefined {
  for (const details of [get(body, 'details'), get(get(body, 'error'), 'details')]) {
    if (!Array.isArray(details)) continue;
    for (const detail of details) {
      const type = get(detail, '@type');
      if (typeof type === 'string' && !type.endsWith('google.rpc.RetryInfo')) continue;
      const delay = durationMs(get(detail, 'retryDelay') ?? get(detail, 'retry_delay'));
      if (delay !== undefined) return delay;
    }
  }
  return undefined;
}

function durationMs(value: unknown): number | undefined {
  if (typeof value === 'string') {
    const seconds = /^(\d+(?:\.\d{1,9})?)s$/.exec(value)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }
  const seconds = wholeNumber(get(value, 'seconds'));
  const nanos = wholeNumber(get(value, 'nanos'));
  if (seconds === undefined && nanos === undefined) return undefined;
  return (seconds ?? 0) * 1000 + (nanos ?? 0) / 1_000_000;
}

/** Protocol Buffers JSON writes 64-bit integers as strings. */
function wholeNumber(value: unknown): number | undefined {
  return /^\d+$/.test(String(value)) ? Number(value) : undefined;
}

function get(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
