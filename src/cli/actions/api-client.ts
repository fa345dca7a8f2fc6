import { type ApiClient, createClient } from '../../api/client.ts';
import { chooseProxy, describeProxy } from '../../api/network/proxy.ts';
import type { TokenSource } from '../../api/token.ts';
import { mostConcurrency } from '../../rate/rate-controller.ts';
import type { RunOptions } from '../../run/record.ts';
import { environment } from '../config/load.ts';

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
    proxyVariables: environment,
    connections: concurrency === 'auto' ? mostConcurrency : concurrency,
    timeouts: { headersMs: timeoutMs, bodyMs: timeoutMs, totalMs: timeoutMs },
  });
}

/** The API and how it is reached, for people. */
export function wayTo(baseUrl: string, proxy: string | undefined): string {
  return proxy === undefined ? baseUrl : `${baseUrl} through the proxy ${proxy}`;
}

/**
 * The proxy on the way to the API, for people.
 *
 * @throws a usage error when there is one that can't be used.
 */
export function proxyTo({
  baseUrl,
  allowInsecureHttp,
}: {
  readonly baseUrl: string;
  readonly allowInsecureHttp?: boolean | undefined;
}): string | undefined {
  const proxy = chooseProxy(baseUrl, { variables: environment, allowInsecureHttp });
  return proxy && describeProxy(proxy);
}
