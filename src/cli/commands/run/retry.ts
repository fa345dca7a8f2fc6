import { usageError } from '../../../base/errors/errors.ts';
import { count, counted } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { isActive } from '../../../engine/cluster/entries.ts';
import { resumeCommand } from '../../../engine/report/next-steps.ts';
import { type AnsweredRows, answeredRows } from '../../../engine/run/check/answered-rows.ts';
import {
  findRetries,
  refuseUnlessOver,
  retriesAfter,
  retriesAmong,
  unfinishedAmong,
} from '../../../engine/run/plan/retries.ts';
import { type RetryChoice, type RetryRows, writeRetryRows } from '../../../engine/run/plan/retry-run.ts';
import { hasRowsToRetry } from '../../../engine/run/plan/rows-with-results.ts';
import { isFinalState } from '../../../engine/run/record/ending.ts';
import {
  actualState,
  goesOnByItself,
  isResumable,
  type RunRecord,
} from '../../../engine/run/record/record.ts';
import { progressOf } from '../../../engine/run/record/run-journal.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { type FittingRun, findRecord } from '../../../engine/run/work/find-run.ts';
import type { Flags } from '../../config.ts';
import { type Context, openRunContext } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { isPreview, requireConsentUnlessPreview, runDerived } from './derived-run.ts';
import { runWhenFree } from './run-scope.ts';

export async function retry(id: string | undefined, flags: Flags): Promise<ExitCode> {
  // A preview changes nothing, so it waits for no other run and notifies no URL.
  if (isPreview(flags)) return retryRun(await openRunContext(flags), id);
  return runWhenFree(flags, `retry ${id ?? ''}`.trim(), (context) => retryRun(context, id));
}

export async function retryRun(context: Context, id: string | undefined): Promise<ExitCode> {
  const { store, terminal, flags } = context;
  requireConsentUnlessPreview(context, 'retry', id);
  const original = await findRecord(store, id, runToRetry(store));
  const retriedRun = await findRetries(store, original);
  const later = retriesAfter(retriedRun, original);
  refuseUnlessOver('retry', original, later);
  return runDerived(context, original, 'retry', original.options.onConflict, async (input) => {
    const { unclear, transient } = flags;
    const check = unclear || transient ? await answeredRows(store, retriedRun) : undefined;
    const codesWanted = flags.code?.map((code) => code.toUpperCase());
    const choice = {
      codes: codesWanted,
      unclear,
      transient,
      answeredRowsToOmit: check?.rows,
    } satisfies RetryChoice;
    const retried = await writeRetryRows(store, original, later, choice, input);
    const { scan, chosenCodes, overtakenCount } = retried;
    const checkNote =
      check && retried.answeredCount > 0 ? answeredText(retried.answeredCount, check) : undefined;
    refuseNothing(original, retried, choice, checkNote);
    const notes = [overtakenCount === 0 ? undefined : overtakenText(overtakenCount), checkNote];
    const leftOut = notes.flatMap((note) => (note === undefined ? [] : [`. ${note}`])).join('');
    terminal.say(
      `Run ${original.id} of ${escapeInvisible(original.manifest.name)}: ${count(scan.rows)} of ` +
        `${counted(original.plan.rows, 'row')} to retry (${codeTexts(chosenCodes)})${leftOut}`,
    );
    return retried;
  });
}

/** Finds the newest run with failed or uncalled rows that no later retry has done. */
function runToRetry(store: RunStore): FittingRun {
  let allRuns: Promise<readonly RunRecord[]> | undefined;
  return {
    fittingClause: 'has rows to retry',
    async acceptsRecord(record) {
      if (isActive(actualState(record))) return false;
      const { failed } = (await progressOf(store, record)).outcomes;
      if (failed === 0 && record.state !== 'cancelled') return false;
      allRuns ??= store.list();
      const later = retriesAfter(retriesAmong(await allRuns, record), record);
      return unfinishedAmong(later) === undefined && hasRowsToRetry(store, record, later);
    },
    acceptsState: () => false,
    adviceForNewest: (newest) =>
      isResumable(actualState(newest)) ? `to continue it: ${resumeCommand(newest)}` : undefined,
  };
}

interface Choice {
  readonly codes: readonly string[] | undefined;
  readonly unclear: boolean | undefined;
  readonly transient: boolean | undefined;
}

function refuseNothing(
  record: RunRecord,
  { codes, scan, overtakenCount }: RetryRows,
  { codes: wanted = [], unclear, transient }: Choice,
  checkNote: string | undefined,
): void {
  const { id, state } = record;
  const unknown = wanted.find((code) => !codes.has(code));
  if (scan.rows > 0 && unknown === undefined) return;
  if (codes.size === 0 && overtakenCount > 0)
    throw usageError('NOTHING_TO_RETRY', `Nothing to retry in run ${id}: ${overtakenText(overtakenCount)}.`);
  if (codes.size === 0) {
    const hint =
      isFinalState(state) || goesOnByItself(record)
        ? ''
        : ` "${resumeCommand(record)}" calls its rows without a result.`;
    throw usageError(
      'NOTHING_TO_RETRY',
      `Nothing to retry: no row of run ${id} failed, or every row that failed has since succeeded.${hint}`,
    );
  }
  if (unknown === undefined && checkNote !== undefined)
    throw usageError('NOTHING_TO_RETRY', `Nothing to retry in run ${id}: ${checkNote}.`);
  const chosen = [unclear && 'is unclear', transient && 'may succeed without a change'].filter(Boolean);
  const which = unknown === undefined ? chosen.join(' and ') : `has the code ${unknown}`;
  const knownCodes = unclear && unknown === undefined ? '' : `; the codes are ${codeTexts(codes)}`;
  throw usageError('NOTHING_TO_RETRY', `Nothing to retry: no failed row of run ${id} ${which}${knownCodes}.`);
}

function overtakenText(rows: number): string {
  return (
    `${counted(rows, 'row', ['that failed is', 'that failed are'])} left out: a later row for the same entry succeeded, ` +
    `and ${rows === 1 ? 'it' : 'they'} would overwrite its change`
  );
}

function answeredText(rows: number, { checkedAt }: AnsweredRows): string {
  return `${counted(rows, 'unclear row', ['is', 'are'])} left out: the check at ${localTime(checkedAt)} found that ${rows === 1 ? 'it needs' : 'they need'} no further call`;
}

/** `3 UNAVAILABLE, 1 NOT_FOUND` */
function codeTexts(codes: RetryRows['codes']): string {
  return [...codes]
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, rows]) => `${count(rows)} ${code}`)
    .join(', ');
}
