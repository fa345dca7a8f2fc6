import type { LimitedApi } from '../../../domain/terms.ts';
import type { TokenSource } from '../../../engine/api/token.ts';
import { findEarlierRun } from '../../../engine/run/plan/earlier-runs.ts';
import type { PlannedRows } from '../../../engine/run/plan/planned-rows.ts';
import type { ReadyRows } from '../../../engine/run/plan/readiness.ts';
import type { RunOptions } from '../../../engine/run/record/record.ts';
import { fileThatSays } from '../../config/load.ts';
import type { CommandContext } from '../../context.ts';
import type { Forecast } from '../../render/forecast.ts';
import type { Plan } from '../../render/plan.ts';
import { estimatedLimits, tokenSource } from '../api-client.ts';

/**
 * The plan of checked rows with these options, as it is shown. Without a base URL, nothing is known about the API.
 *
 * @param proxy to the API, without its password
 * @param sha256 of the manifest, to find an earlier run of it; undefined for rows of another run, which were called before on
 * purpose
 */
export async function planOf(
  workplace: CommandContext,
  rows: Omit<Plan, keyof Forecast | 'earlier'> & ReadyRows,
  { rateGroup, rate }: Partial<Pick<RunOptions, 'rateGroup' | 'rate'>>,
  proxy: string | undefined,
  sha256: string | undefined,
): Promise<Plan> {
  const { approved, settings, flags, store } = workplace;
  const { baseUrl } = rows;
  const bound = rate?.perSecond;
  const wanted = bound === undefined ? undefined : { perSecond: bound, isWanted: true };
  const limit = rate?.auto && baseUrl ? await limitOf(workplace, { baseUrl, rateGroup }) : undefined;
  const isLower = limit !== undefined && limit < (bound ?? Number.POSITIVE_INFINITY);
  const isOwnChoice = approved === undefined && settings.baseUrl !== undefined;
  // With --skip-done, the user knows about earlier runs.
  const isNews = flags.skipDone === undefined && baseUrl !== undefined && sha256 !== undefined;
  return {
    ...rows,
    rateGroup,
    baseUrlFile: isOwnChoice ? fileThatSays('baseUrl', flags) : undefined,
    proxy,
    rate: isLower ? { perSecond: limit, isWanted: false } : wanted,
    earlier: isNews ? await findEarlierRun(store, sha256, baseUrl) : undefined,
  };
}

/** SHA-256 of the manifest of rows; undefined for rows of another run. */
export function manifestOf({ head }: Pick<PlannedRows, 'head'>): string | undefined {
  return head.derived === undefined ? head.source.sha256 : undefined;
}

/** Calls per second that the API last permitted. */
async function limitOf({ store, settings }: CommandContext, api: LimitedApi): Promise<number | undefined> {
  const token = tokenIfAny(settings, api);
  const estimates = token && (await estimatedLimits(store, api, token));
  return (await estimates?.load())?.limit;
}

function tokenIfAny(settings: CommandContext['settings'], api: LimitedApi): TokenSource | undefined {
  try {
    return tokenSource(settings, api);
  } catch {
    return undefined;
  }
}
