import type { LimitedApi } from '../../../domain.ts';
import { lookUpTarget, type RunOptions, type TokenSource } from '../../../index.ts';
import { fileThatSays } from '../../config/load.ts';
import type { Workplace } from '../../context.ts';
import type { Forecast } from '../../render/forecast.ts';
import { estimatedLimits, tokenSource } from '../api-client.ts';

/**
 * The forecast of a run; without a base URL, nothing is known about the API.
 *
 * @param proxy to the API, without its password
 */
export async function forecastOf(
  workplace: Workplace,
  { baseUrl, rateGroup, rate }: Partial<Pick<RunOptions, 'baseUrl' | 'rateGroup' | 'rate'>>,
  proxy: string | undefined,
): Promise<Forecast> {
  const bound = rate?.perSecond;
  const wanted = bound === undefined ? undefined : { perSecond: bound, isWanted: true };
  if (baseUrl === undefined) return { baseUrl, proxy, target: undefined, rate: wanted };
  const limit = rate?.auto ? await limitOf(workplace, { baseUrl, rateGroup }) : undefined;
  const isLower = limit !== undefined && limit < (bound ?? Number.POSITIVE_INFINITY);
  const { approved, settings, flags } = workplace;
  const isOwnChoice = approved === undefined && settings.baseUrl !== undefined;
  return {
    baseUrl,
    rateGroup,
    baseUrlFile: isOwnChoice ? fileThatSays('baseUrl', flags) : undefined,
    proxy,
    target: await lookUpTarget(workplace.store.stateDir, baseUrl),
    rate: isLower ? { perSecond: limit, isWanted: false } : wanted,
  };
}

/** Calls per second that the API last permitted. */
async function limitOf({ store, settings }: Workplace, api: LimitedApi): Promise<number | undefined> {
  const token = tokenIfAny(settings, api);
  const estimates = token && (await estimatedLimits(store, api, token));
  return (await estimates?.load())?.limit;
}

function tokenIfAny(settings: Workplace['settings'], api: LimitedApi): TokenSource | undefined {
  try {
    return tokenSource(settings, api);
  } catch {
    return undefined;
  }
}
