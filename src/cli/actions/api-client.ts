import { apiText, type LimitedApi } from '../../domain.ts';
import { usageError } from '../../errors.ts';
import {
  type ApiClient,
  chooseProxy,
  describeProxy,
  type EstimatedLimits,
  mostConcurrency,
  openClient,
  openEstimatedLimits,
  type RequestObserver,
  type RunOptions,
  type RunStore,
  type Settings,
  type TokenSource,
  tokenFolder,
  tokenFromFile,
  tokenFromValue,
  tokenMark,
} from '../../index.ts';
import { environment } from '../config/load.ts';

/** The API, and whether it may be called without TLS. */
interface Target {
  readonly baseUrl: string;
  readonly allowInsecureHttp?: boolean | undefined;
}

/** How a client calls the API. */
export interface CallSettings extends Target, Pick<RunOptions, 'concurrency' | 'timeoutMs'> {}

/**
 * The access token: that of the rate group, or else from the configured file, or else from `CQBATCH_TOKEN`. Never from a flag,
 * which other users of the machine could read.
 *
 * @throws a usage error `TOKEN_MISSING`
 */
export function tokenSource(
  { tokenFile, tokenDir }: Settings,
  { rateGroup }: Pick<LimitedApi, 'rateGroup'> = {},
): TokenSource {
  if (tokenDir !== undefined && rateGroup !== undefined) return tokenFolder(tokenDir).token(rateGroup);
  if (tokenFile !== undefined) return tokenFromFile(tokenFile);
  const token = environment['CQBATCH_TOKEN'];
  if (token) return tokenFromValue(token);
  throw usageError(
    'TOKEN_MISSING',
    tokenDir === undefined
      ? 'The access token is missing: set CQBATCH_TOKEN, or pass --token-file FILE.'
      : 'The access token is missing: name a file of --token-dir with --rate-group NAME, set CQBATCH_TOKEN, or pass --token-file FILE.',
  );
}

/** Whether a token is configured that belongs to no file of `--token-dir`. */
export function hasOwnToken({ tokenFile }: Settings): boolean {
  return tokenFile !== undefined || Boolean(environment['CQBATCH_TOKEN']);
}

/** A client with as many connections as the run's concurrency. */
export function apiClient(
  { baseUrl, allowInsecureHttp, concurrency, timeoutMs }: CallSettings,
  token: TokenSource,
  observer?: RequestObserver,
): Promise<ApiClient> {
  return openClient({
    baseUrl,
    allowInsecureHttp,
    token,
    proxyVariables: environment,
    connections: concurrency === 'auto' ? mostConcurrency : concurrency,
    timeouts: { headersMs: timeoutMs, bodyMs: timeoutMs, totalMs: timeoutMs },
    observer,
  });
}

/** Estimates by runs of this state folder for the API and token. */
export async function estimatedLimits(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  { baseUrl }: Pick<RunOptions, 'baseUrl'>,
  token: TokenSource,
): Promise<EstimatedLimits | undefined> {
  // The first call will report an unreadable token.
  const current = await token.current().catch(() => undefined);
  return current === undefined ? undefined : openEstimatedLimits(stateDir, baseUrl, tokenMark(current));
}

/** The API, with its proxy, for display. */
export function wayTo(api: LimitedApi, proxy: string | undefined): string {
  return proxy === undefined ? apiText(api) : `${apiText(api)} through the proxy ${proxy}`;
}

/**
 * The proxy to the API, for display.
 *
 * @throws a usage error for an invalid proxy
 */
export function proxyTo({ baseUrl, allowInsecureHttp }: Target): string | undefined {
  const proxy = chooseProxy(baseUrl, { variables: environment, allowInsecureHttp });
  return proxy && describeProxy(proxy);
}
