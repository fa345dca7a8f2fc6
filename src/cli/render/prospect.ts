import {
  type FieldCounts,
  type OperationSummary,
  type ScanSummary,
  subjectsOf,
  type Target,
} from '../../index.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { count, counted, duration, perSecond } from '../../text/quantities.ts';
import { clockTime, indented, movedIn } from './words.ts';

/** Where a run would go, and how fast. */
export interface Prospect {
  /** Undefined when nobody said where the API is. */
  readonly baseUrl: string | undefined;
  /** The configuration file, where that says where the API is. */
  readonly baseUrlFile?: string | undefined;
  /** The proxy on the way there, without its password. */
  readonly proxy: string | undefined;
  /** What is known of the API; undefined when nobody said where it is. */
  readonly target: Target | undefined;
  /** Calls per second that can be expected, when anything is known of that. */
  readonly rate: ExpectedRate | undefined;
}

export interface ExpectedRate {
  readonly perSecond: number;
  /** Whether the user said so; else it is what the API permitted the last time. */
  readonly isWanted: boolean;
}

/** What would be done to what, where and for how long. */
export function prospectText(
  { perOperation, callable }: Pick<ScanSummary, 'perOperation' | 'callable'>,
  prospect: Prospect,
  now: Date,
): string {
  if (callable === 0) return '';
  const { baseUrl, baseUrlFile, proxy, target } = prospect;
  const where = baseUrl === undefined ? '' : ` at ${baseUrl}`;
  const facts = [
    ...Object.entries(perOperation).flatMap(([name, summary]) => operationLines(name, summary)),
    baseUrlFile && `the address is that of base_url in ${escapeInvisible(baseUrlFile)}`,
    proxy && `through the proxy ${proxy}`,
    timeText(callable, prospect, now),
    target?.isNew && 'a new address: no run of this state folder has called it before',
  ];
  return `What will happen${where}:\n${indented(facts.filter((fact) => typeof fact === 'string'))}`;
}

/** How many seconds it will take, as far as that can be told. */
export function estimatedSeconds(callable: number, { rate }: Pick<Prospect, 'rate'>): number | undefined {
  return rate && Math.ceil(callable / rate.perSecond);
}

function timeText(callable: number, { rate }: Prospect, now: Date): string | undefined {
  const seconds = estimatedSeconds(callable, { rate });
  if (seconds === undefined || rate === undefined) return undefined;
  const end = clockTime(new Date(now.getTime() + seconds * 1_000), now);
  const why = rate.isWanted ? '' : ', which the API permitted last time';
  return `about ${duration(seconds)} at ${perSecond(rate.perSecond)}${why}: until ${end}`;
}

function operationLines(name: string, summary: OperationSummary): readonly string[] {
  const { callable, thing, first, last } = summary;
  if (first === undefined || last === undefined) return [];
  const placeOf = ({ subject, row }: typeof first): string => `${escapeInvisible(subject)} (row ${row})`;
  const which = first === last ? placeOf(first) : `first ${placeOf(first)}, last ${placeOf(last)}`;
  return [
    `${name}: ${counted(callable, 'call')} for ${counted(subjectsOf(summary), thing)}, ${which}`,
    ...fieldLines(summary).map(movedIn),
  ];
}

/** `sets title, description (50 of 54 rows)` */
function fieldLines({ fields, callable }: OperationSummary): readonly string[] {
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
    ...lineOf('leaves out', ({ absent }) => absent),
  ];
}
