import { usageError } from '../../base/errors/errors.ts';
import { apiText, type LimitedApi } from '../../domain/terms.ts';
import type { ApiClient } from '../../engine/api/client.ts';
import type { RequestObserver } from '../../engine/api/network/exchange.ts';
import { chooseProxy, describeProxy } from '../../engine/api/network/proxy.ts';
import { tokenFromCommand } from '../../engine/api/token/from-command.ts';
import { tokenFromFile } from '../../engine/api/token/renewed-token.ts';
import { noToken, type TokenSource, tokenFromValue, tokenMark } from '../../engine/api/token/token.ts';
import { mostConcurrency } from '../../engine/rate/rate-controller.ts';
import type { RunOptions } from '../../engine/run/record/record.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { type EstimatedLimits, openEstimatedLimits } from '../../engine/run/work/estimated-limits.ts';
import type { Settings } from '../../settings/settings.ts';
import { environment } from '../config.ts';
import type { CommandInput } from '../context.ts';
import type { Terminal } from '../terminal.ts';

interface Target {
  readonly baseUrl: string;
  readonly allowInsecureHttp?: boolean | undefined;
}

export interface CallSettings extends Target, Pick<RunOptions, 'concurrency' | 'timeoutMs'> {}

export interface ServedApi extends CallSettings, LimitedApi {
  readonly token: TokenSource;
}

export interface TokenSettings extends Pick<CommandInput, 'settings'> {
  readonly terminal: Pick<Terminal, 'warn'>;
  /** The operations whose rows are called. If one needs no token, a missing token is an error only when a call needs the token. */
  readonly store?: Pick<RunStore, 'operations'>;
}

/** One source for each command that prints a token, so that all callers share what it prints. */
const commandTokens = new WeakMap<readonly string[], TokenSource>();

/** Whether reading the token would run the token command for the first time. */
export function needsCommand({ tokenCommand }: Settings): boolean {
  return tokenCommand !== undefined && !commandTokens.has(tokenCommand);
}

/**
 * The token of the configured file or command, or else `CQBATCH_TOKEN`. If the settings name a rate group, the token is only for that
 * group.
 *
 * @param run has the rate group of the calls
 * @throws a usage error `TOKEN_MISSING`, also when the token is for another rate group
 */
export function tokenSource(
  { settings, terminal, store }: TokenSettings,
  { rateGroup }: Pick<LimitedApi, 'rateGroup'> = settings,
): TokenSource {
  const { tokenFile, tokenCommand, rateGroup: tokenGroup } = settings;
  if (tokenGroup !== undefined && tokenGroup !== rateGroup) {
    const remedy =
      rateGroup === undefined
        ? 'remove the setting rate_group (CQBATCH_RATE_GROUP)'
        : `set CQBATCH_RATE_GROUP=${rateGroup}`;
    throw usageError(
      'TOKEN_MISSING',
      `The access token is for ${callersOf(tokenGroup)}, not for ${callersOf(rateGroup)}: ${remedy}, and give the token for it.`,
    );
  }
  if (tokenFile !== undefined) return tokenFromFile(tokenFile);
  if (tokenCommand !== undefined) {
    const onWarning = (reason: string): void =>
      terminal.warn(`warning: the access token is not renewed yet, but still valid. ${reason}`);
    const tokens = commandTokens.get(tokenCommand) ?? tokenFromCommand(tokenCommand, { onWarning });
    commandTokens.set(tokenCommand, tokens);
    return tokens;
  }
  const token = environment['CQBATCH_TOKEN'];
  if (token) return tokenFromValue(token);
  if (store?.operations.some(({ auth }) => auth === 'none')) return noToken;
  throw usageError(
    'TOKEN_MISSING',
    'The access token is missing: set CQBATCH_TOKEN, or pass --token-file FILE or --token-command COMMAND.',
  );
}

/** Says why a daemon can't call the API of a run. Undefined if it can. */
export function mismatchOf(daemon: LimitedApi, run: LimitedApi): string | undefined {
  if (run.baseUrl !== daemon.baseUrl) return `it is for ${run.baseUrl}, not ${daemon.baseUrl}`;
  if (run.rateGroup === daemon.rateGroup) return undefined;
  const flag = run.rateGroup === undefined ? 'without --rate-group' : `with --rate-group ${run.rateGroup}`;
  return (
    `the token of this daemon is for ${callersOf(daemon.rateGroup)}, not for ${callersOf(run.rateGroup)}: ` +
    `start it ${flag} and the other token, or use a shared datastore (--queue redis://…) with a worker for each group`
  );
}

function callersOf(rateGroup: string | undefined): string {
  return rateGroup === undefined ? 'runs without a rate group' : `the rate group ${rateGroup}`;
}

/** Makes the client that calls the API. Its code is loaded here, so that other commands start fast. */
export async function apiClient(
  { baseUrl, allowInsecureHttp, concurrency, timeoutMs }: CallSettings,
  token: TokenSource,
  observer?: RequestObserver,
): Promise<ApiClient> {
  const { createClient } = await import('../../engine/api/client.ts');
  return createClient({
    baseUrl,
    allowInsecureHttp,
    token,
    proxyVariables: environment,
    connections: concurrency === 'auto' ? mostConcurrency : concurrency,
    timeouts: { headersMs: timeoutMs, bodyMs: timeoutMs, totalMs: timeoutMs },
    observer,
  });
}

/** The limits that runs of this state folder learned for this token or the tokens before it. Undefined for an unreadable token. */
export async function estimatedLimits(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  { baseUrl }: Pick<RunOptions, 'baseUrl'>,
  token: TokenSource,
): Promise<EstimatedLimits | undefined> {
  // An unreadable token is no error here: the first call reports it.
  let latest = await token.current().catch(() => undefined);
  if (latest === undefined) return undefined;
  const ofLatest = async (): Promise<EstimatedLimits> => {
    latest = await token.current().catch(() => latest);
    return openEstimatedLimits(stateDir, baseUrl, tokenMark(latest ?? ''));
  };
  return {
    load: async () => (await ofLatest()).load(),
    save: async (point) => (await ofLatest()).save(point),
  };
}

export function wayTo(api: LimitedApi, proxy: string | undefined): string {
  return proxy === undefined ? apiText(api) : `${apiText(api)} through the proxy ${proxy}`;
}

export function proxyTo({ baseUrl, allowInsecureHttp }: Target): string | undefined {
  const proxy = chooseProxy(baseUrl, { variables: environment, allowInsecureHttp });
  return proxy && describeProxy(proxy);
}
