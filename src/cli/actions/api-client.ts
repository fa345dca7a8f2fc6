import { type ApiClient, createClient } from '../../api/client.ts';
import type { TokenSource } from '../../api/token.ts';
import type { RunOptions } from '../../run/record.ts';
import { mostConcurrency } from '../../worker/steering.ts';

type ClientSettings = Pick<RunOptions, 'baseUrl' | 'allowInsecureHttp' | 'concurrency' | 'timeoutMs'>;

/** A client for so many calls at once. */
export function apiClient(
  { baseUrl, allowInsecureHttp, concurrency, timeoutMs }: ClientSettings,
  token: TokenSource,
): ApiClient {
  return createClient({
    baseUrl,
    allowInsecureHttp,
    token,
    connections: concurrency === 'auto' ? mostConcurrency : concurrency,
    timeouts: { headersMs: timeoutMs, bodyMs: timeoutMs, totalMs: timeoutMs },
  });
}
