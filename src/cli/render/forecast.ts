import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { apiText } from '../../domain/terms.ts';
import type { ScanSummary } from '../../engine/manifest/check/scan.ts';
import { type FieldCounts, type OperationSummary, subjectsOf } from '../../engine/rows/row-counts.ts';
import type { ReadyRows } from '../../engine/run/plan/readiness.ts';
import { clockTime, indented, movedIn } from './words.ts';

export interface Forecast extends Pick<ReadyRows, 'baseUrl' | 'isNewTarget'> {
  readonly rateGroup?: string | undefined;
  readonly baseUrlFile?: string | undefined;
  /** Without its password. */
  readonly proxy: string | undefined;
  readonly rate: ExpectedRate | undefined;
}

export interface ExpectedRate {
  readonly perSecond: number;
  /** False if the API permitted the rate in an earlier run. */
  readonly isWanted: boolean;
}

/** @param isWhole each request has the whole entry */
export function forecastText(
  { perOperation, callable }: Pick<ScanSummary, 'perOperation' | 'callable'>,
  forecast: Forecast,
  { isReady, isWhole, now }: { readonly isReady: boolean; readonly isWhole: boolean; readonly now: Date },
): string {
  if (callable === 0) return '';
  const { baseUrl, rateGroup, baseUrlFile, proxy, isNewTarget } = forecast;
  const where = baseUrl === undefined ? '' : ` at ${apiText({ baseUrl, rateGroup })}`;
  const facts = [
    ...Object.entries(perOperation).flatMap(([name, summary]) => operationLines(name, summary, isWhole)),
    baseUrlFile && `address from base_url in ${escapeInvisible(baseUrlFile)}`,
    proxy && `through the proxy ${proxy}`,
    timeText(callable, forecast, now),
    isNewTarget && 'first run against this address from this state folder',
  ];
  return `What ${isReady ? 'will' : 'would'} happen${where}:\n${indented(facts.filter((fact) => typeof fact === 'string'))}`;
}

/** Undefined when no rate is known. */
export function estimatedSeconds(callable: number, { rate }: Pick<Forecast, 'rate'>): number | undefined {
  return rate && Math.ceil(callable / rate.perSecond);
}

function timeText(callable: number, { rate }: Forecast, now: Date): string | undefined {
  const seconds = estimatedSeconds(callable, { rate });
  if (seconds === undefined || rate === undefined) return undefined;
  const at = `${duration(seconds)} at ${perSecond(rate.perSecond)}`;
  if (!rate.isWanted) return `about ${at} if the API permits as much as last time`;
  return `about ${at}, until ${clockTime(new Date(now.getTime() + seconds * 1_000), now)}`;
}

function operationLines(name: string, summary: OperationSummary, isWhole: boolean): readonly string[] {
  const { callable, thing, first, last } = summary;
  if (first === undefined || last === undefined) return [];
  const placeOf = ({ subject, row }: typeof first): string => `${escapeInvisible(subject)} (row ${row})`;
  const which = first === last ? placeOf(first) : `first ${placeOf(first)}, last ${placeOf(last)}`;
  return [
    `${name}: ${counted(callable, 'call')} for ${counted(subjectsOf(summary), thing)}, ${which}`,
    ...fieldLines(summary, isWhole).map(movedIn),
  ];
}

/** `sets title, description (50 of 54 rows)` */
function fieldLines({ fields, callable }: OperationSummary, isWhole: boolean): readonly string[] {
  const lineOf = (what: string, rowsOf: (counts: FieldCounts) => number): readonly string[] => {
    const texts = Object.entries(fields)
      .map(([field, counts]) => ({ field, rows: rowsOf(counts) }))
      .filter(({ rows }) => rows > 0)
      .map(({ field, rows }) =>
        rows === callable ? field : `${field} (${count(rows)} of ${counted(callable, 'row')})`,
      );
    return texts.length === 0 ? [] : [`${what} ${texts.join(', ')}`];
  };
  return [
    ...lineOf('sets', ({ given, cleared }) => given - cleared),
    ...lineOf('clears', ({ cleared }) => cleared),
    ...(isWhole ? [] : lineOf('leaves out', ({ absent }) => absent)),
  ];
}
