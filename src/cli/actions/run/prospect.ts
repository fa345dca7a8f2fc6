import {
  type EstimatedLimits,
  lookUpTarget,
  openEstimatedLimits,
  type RunOptions,
  type RunStore,
  type TokenSource,
  tokenMark,
} from '../../../index.ts';
import { fileThatSays } from '../../config/load.ts';
import type { Workplace } from '../../context.ts';
import type { Prospect } from '../../render/prospect.ts';
import { tokenSource } from '../api-client.ts';

/**
 * What is known beforehand of a run against an API, if somebody says where that is.
 *
 * @param proxy on the way there, without its password
 */
export async function prospectOf(
  workplace: Workplace,
  { baseUrl, rate }: Partial<Pick<RunOptions, 'baseUrl' | 'rate'>>,
  proxy: string | undefined,
): Promise<Prospect> {
  const bound = rate?.perSecond;
  const wanted = bound === undefined ? undefined : { perSecond: bound, isWanted: true };
  if (baseUrl === undefined) return { baseUrl, proxy, target: undefined, rate: wanted };
  const limit = rate?.auto ? await limitOf(workplace, baseUrl) : undefined;
  const isLower = limit !== undefined && limit < (bound ?? Number.POSITIVE_INFINITY);
  const { approved, settings, flags } = workplace;
  const isOwnChoice = approved === undefined && settings.baseUrl !== undefined;
  return {
    baseUrl,
    baseUrlFile: isOwnChoice ? fileThatSays('baseUrl', flags) : undefined,
    proxy,
    target: await lookUpTarget(workplace.store.stateDir, baseUrl),
    rate: isLower ? { perSecond: limit, isWanted: false } : wanted,
  };
}

/** Calls per second that an API permitted the last time. */
async function limitOf({ store, settings }: Workplace, baseUrl: string): Promise<number | undefined> {
  const token = tokenIfAny(settings);
  const estimates = token && (await estimatedLimits(store, { baseUrl }, token));
  return (await estimates?.load())?.limit;
}

/** What runs of this state folder have estimated of the API with this token. */
export async function estimatedLimits(
  { stateDir }: Pick<RunStore, 'stateDir'>,
  { baseUrl }: Pick<RunOptions, 'baseUrl'>,
  token: TokenSource,
): Promise<EstimatedLimits | undefined> {
  // A token that can't be read will show at the first call.
  const current = await token.current().catch(() => undefined);
  return current === undefined ? undefined : openEstimatedLimits(stateDir, baseUrl, tokenMark(current));
}

function tokenIfAny(settings: Workplace['settings']): TokenSource | undefined {
  try {
    return tokenSource(settings);
  } catch {
    return undefined;
  }
}
