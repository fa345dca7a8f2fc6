import { count, counted, duration, perSecond } from '../../base/text/format.ts';
import { clockTime } from '../../base/text/local-time.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { apiText } from '../../domain/terms.ts';
import type { ScanSummary } from '../../engine/manifest/check/scan.ts';
import { type OperationSummary, subjectsOf } from '../../engine/rows/row-counts.ts';
import { deedText } from '../../engine/rows/row-kind.ts';
import type { ReadyRows } from '../../engine/run/plan/readiness.ts';
import type { Fact } from './words.ts';

export interface Forecast extends Pick<ReadyRows, 'baseUrl' | 'isNewTarget'> {
  readonly rateGroup?: string | undefined;
  readonly baseUrlFile?: string | undefined;
  /** The address of the proxy, without its password. */
  readonly proxy: string | undefined;
  readonly rate: ExpectedRate | undefined;
}

export interface ExpectedRate {
  readonly perSecond: number;
  /** Whether the user set the rate. False if the API permitted the rate in an earlier run. */
  readonly isWanted: boolean;
}

/** The calls of a plan: `40 calls: restore 20 evaluations, update 20 soundboards (5 clear description)` */
export function callsText({
  perOperation,
  callable,
}: Pick<ScanSummary, 'perOperation' | 'callable'>): string {
  if (callable === 0) return 'Nothing to call';
  const texts = Object.entries(perOperation).flatMap(([name, summary]) =>
    summary.callable === 0 ? [] : [`${operationText(name, summary)}${clearsText(summary)}`],
  );
  return `${counted(callable, 'call')}: ${texts.join(', ')}`;
}

/** What an operation does: `restore evaluation 201`, `update 53 soundboards in 54 calls`, `close for 3 tickets` */
function operationText(name: string, summary: OperationSummary): string {
  const { callable, thing, first } = summary;
  const entries = subjectsOf(summary);
  const what =
    callable === 1 && first !== undefined
      ? `${thing} ${escapeInvisible(first.subject)}`
      : counted(entries, thing);
  const deed = deedText({ name, thing }, what);
  return entries === callable ? deed : `${deed} in ${counted(callable, 'call')}`;
}

/** How many rows clear a field: ` (5 clear description)` */
function clearsText({ fields, callable }: OperationSummary): string {
  const texts = Object.entries(fields)
    .filter(([, { cleared }]) => cleared > 0)
    .map(([field, { cleared }]) => {
      if (callable === 1) return `clears ${field}`;
      return `${cleared === callable ? 'all clear' : `${count(cleared)} ${cleared === 1 ? 'clears' : 'clear'}`} ${field}`;
    });
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

/** The facts of a plan about its calls: what is sent, where, and how long all calls take. */
export function forecastFacts(
  { perOperation, callable }: Pick<ScanSummary, 'perOperation' | 'callable'>,
  forecast: Forecast,
  now: Date,
): readonly Fact[] {
  if (callable === 0) return [];
  return [
    ['Sets:', fieldTexts(perOperation, ({ given, cleared }) => given - cleared)],
    ['Leaves out:', fieldTexts(operationsLeavingFieldsOut(perOperation), ({ absent }) => absent)],
    ['Address:', addressTexts(forecast)],
    ['Time:', timeText(callable, forecast, now)],
  ];
}

/** The operations with rows that leave fields out, which the service might reset. */
function operationsLeavingFieldsOut(perOperation: ScanSummary['perOperation']): ScanSummary['perOperation'] {
  return Object.fromEntries(Object.entries(perOperation).filter(([, { partial }]) => partial > 0));
}

/** The fields of rows: `title, description (50 of 54 rows)`, with the operation if several operations have fields. */
function fieldTexts(
  perOperation: ScanSummary['perOperation'],
  rowsOf: (counts: OperationSummary['fields'][string]) => number,
): readonly string[] {
  const texts = Object.entries(perOperation).flatMap(([name, { fields, callable }]) => {
    const named = Object.entries(fields)
      .map(([field, counts]) => ({ field, rows: rowsOf(counts) }))
      .filter(({ rows }) => rows > 0)
      .map(({ field, rows }) =>
        rows === callable ? field : `${field} (${count(rows)} of ${counted(callable, 'row')})`,
      );
    return named.length === 0 ? [] : [{ name, text: named.join(', ') }];
  });
  return texts.map(({ name, text }) => (texts.length === 1 ? text : `${text} (${name})`));
}

function addressTexts({ baseUrl, rateGroup, baseUrlFile, proxy, isNewTarget }: Forecast): readonly string[] {
  if (baseUrl === undefined) return ['not set (--base-url)'];
  return [
    apiText({ baseUrl, rateGroup }),
    ...(baseUrlFile === undefined ? [] : [`from base_url in ${escapeInvisible(baseUrlFile)}`]),
    ...(proxy === undefined ? [] : [`through the proxy ${proxy}`]),
    ...(isNewTarget ? ['first run against this address from this state folder'] : []),
  ];
}

/** How long all calls take. Undefined when no rate is known. */
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
