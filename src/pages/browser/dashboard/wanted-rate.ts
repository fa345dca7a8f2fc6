import { clockTime } from '../../../base/text/local-time.ts';
import type { RunData } from '../../server/page-data.ts';

/** How a user chooses a rate. */
export const rateKinds = ['auto', 'most', 'fixed', 'none'] as const;

export interface RateChoice {
  readonly kind: (typeof rateKinds)[number];
  /** Calls per second, as typed. Empty where the kind needs no number. */
  readonly perSecond: string;
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Reads the rate of a run: `auto`, `auto..50/s`, `600/m`, `none`. A rate in another form counts as `auto`. */
export function readRateChoice(text: string): RateChoice {
  if (text === 'none') return { kind: 'none', perSecond: '' };
  const [, auto, calls, units = '1', unit = ''] =
    /^(auto\.\.)?(\d+(?:\.\d+)?)\s*\/\s*(\d+)?\s*([smh])/.exec(text) ?? [];
  const seconds = Number(units) * (secondsOf[unit] ?? 0);
  if (calls === undefined || seconds === 0) return { kind: 'auto', perSecond: '' };
  const perSecond = String(Number((Number(calls) / seconds).toPrecision(4)));
  return { kind: auto === undefined ? 'fixed' : 'most', perSecond };
}

export function needsNumber({ kind }: Pick<RateChoice, 'kind'>): boolean {
  return kind === 'most' || kind === 'fixed';
}

/** The rate as `--rate` has it. */
export function typedRate({ kind, perSecond }: RateChoice): string {
  if (kind === 'auto' || kind === 'none') return kind;
  return `${kind === 'most' ? 'auto..' : ''}${perSecond}/s`;
}

/** The rate that a user wants, if it is not the usual one: `at most 50/s`, `8/s since 20:11 UTC`. */
export function wantedRateText(
  { wantedRate, rateSetAt }: Pick<RunData, 'wantedRate' | 'rateSetAt'>,
  now = new Date(),
): string {
  if (wantedRate === 'auto' && rateSetAt === undefined) return '';
  const words = wantedRate === 'none' ? 'no limit' : wantedRate.replace('auto..', 'at most ');
  return rateSetAt === undefined ? words : `${words} since ${clockTime(new Date(rateSetAt), now)}`;
}
