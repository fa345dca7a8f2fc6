import { count, counted } from '../../../../base/text/format.ts';
import { shortened } from '../../../../base/text/printable.ts';
import { commonCodeText } from '../../../../domain/common-code.ts';
import type { RowResult } from '../../../../domain/row-result.ts';
import type { FailedRows, FailureSummary, FailureTally } from '../../../journal/failed-rows.ts';
import { onceInRuns } from './chance.ts';
import type { RunGuard, RunGuardOptions, RunHalt } from './guard.ts';

/** The fewest failures whose share can halt a run: the share says nothing about fewer failures. */
const fewestFailures = 8;
/** Chance halts at most one of this number of runs whose rows fail as often as is allowed. */
const runsForOneHalt = 10_000;

/**
 * Halts a run when more rows have failed than `maxFailures`, or when their share is higher than is allowed by more than chance: see
 * `onceInRuns`.
 */
export function failureGuard({ maxFailures = 'none' }: Pick<RunGuardOptions, 'maxFailures'>): RunGuard {
  const judge: RunGuard['judge'] = ({ failures }) => {
    const { failed, summary } = failures;
    if (summary === undefined || maxFailures === 'none') return undefined;
    const what =
      typeof maxFailures === 'number'
        ? failed > maxFailures && tooManyText(failures, maxFailures)
        : tooOftenText(failures, maxFailures.percent);
    return what ? haltOfFailures('guard', what, summary) : undefined;
  };
  return { name: 'failures', judge };
}

function tooManyText({ failed, finished }: FailureTally, most: number): string {
  return moreThanLimit(`${count(failed)} of ${counted(finished, 'row')} failed`, most, '--max-failures');
}

function tooOftenText({ failed, finished, since }: FailureTally, percent: number): string | undefined {
  // A run of which all rows may fail never halts.
  if (failed < fewestFailures || percent === 100) return undefined;
  const runs = onceInRuns(failed, finished, percent / 100);
  if (runs < runsForOneHalt) return undefined;
  const rows = `first ${counted(finished, 'row')}${since === 'start' ? '' : ' after the resume'}`;
  return `${count(failed)} of the ${rows} failed; at ${percent} % allowed, chance gives that at most once in ${roundedDown(runs)} runs`;
}

/** `more than the limit of 2 (--max-failures)` */
export function moreThanLimit(what: string, limit: number, option: string): string {
  return `${what}, more than the limit of ${count(limit)} (${option})`;
}

const largeNumbers = [
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
] as const;

/** A number rounded down to two digits: `12,000`, `1.2 million`, `57 million`. At most `1 trillion`. */
function roundedDown(value: number): string {
  const bounded = Math.min(value, 1e12);
  const [unit, name] = largeNumbers.find(([each]) => bounded >= each) ?? [1, undefined];
  const step = 10 ** (Math.floor(Math.log10(bounded / unit)) - 1);
  const rounded = Math.floor(bounded / unit / step) * step;
  return name === undefined ? count(rounded) : `${Number(rounded.toPrecision(2))} ${name}`;
}

/** Halts a run at the first answer for another entry, whatever the limits: the service may have changed that entry. */
export const otherEntryGuard: RunGuard = {
  name: 'answer for another entry',
  judge({ failures: { damage } }) {
    if (damage === undefined) return undefined;
    return {
      cause: 'guard',
      reason: (numberOf) =>
        `the service answered for another entry, which it may have changed: row ${numberOf(damage.row)}${inBrackets(damage.message)}. ` +
        'Check both entries, and find out why the service took one for the other, before you resume the run. ' +
        'A resume does not call this row again.',
      rowToSee: rowToSee(damage),
    };
  },
};

/** @param what the beginning of the reason, before the codes of the failures */
export function haltOfFailures(cause: RunHalt['cause'], what: string, failures: FailureSummary): RunHalt {
  const { failed, latest, mostFrequent } = failures;
  return {
    cause,
    reason(numberOf) {
      const exampleOf = ({ example }: FailedRows): string =>
        `for example row ${numberOf(example.row)}${inBrackets(example.message)}`;
      const common = `${commonCodeText({ code: mostFrequent.code, rows: mostFrequent.rows }, failed)}, ${exampleOf(mostFrequent)}.`;
      const sentence = `${common[0]?.toUpperCase()}${common.slice(1)}`;
      if (latest.code === mostFrequent.code) return `${what}. ${sentence}`;
      return `${what}. At the end ${latest.code} (${counted(latest.rows, 'row')}), ${exampleOf(latest)}. ${sentence}`;
    },
    rowToSee: rowToSee(mostFrequent.example),
  };
}

function rowToSee({ row: place, code, message }: RowResult): NonNullable<RunHalt['rowToSee']> {
  return { place, failure: { code, message: shortened(message, messageLength) } };
}

const messageLength = 200;

function inBrackets(message: string): string {
  const text = shortened(message, messageLength);
  return text === '' ? '' : ` (${text})`;
}
