import { count, counted } from '../../base/text/format.ts';
import { shortened } from '../../base/text/printable.ts';
import { failedRowsText } from '../../domain/common-code.ts';
import { wentWrong } from '../../domain/terms.ts';
import { correctStep, stepsAfterFailures } from './failure-steps.ts';
import type { NextStep, ResumableRun, StepFacts } from './next-step.ts';
import { rowsTo } from './row-steps.ts';

export function nextSteps(facts: StepFacts): readonly NextStep[] {
  const steps: readonly (NextStep | false)[] = [
    ...(facts.phase === 'ended' ? [notCalledNote(facts)] : stepsBeforeTheEnd(facts)),
    facts.unfinishedRetry !== undefined && {
      title: `Continue run ${facts.unfinishedRetry.id}, which retries rows of this run`,
      text: 'It has stopped, and may still call rows.',
      command: resumeCommand(facts.unfinishedRetry),
      group: 'retry',
      rows: rowsTo('retry', facts),
    },
    !checksFirst(facts) && checkStep(facts),
    undoStep(facts),
    stepAfterCheck(facts),
    ...(facts.isCured ? [correctStep(facts, facts.outcomes.invalid)] : stepsAfterFailures(facts)),
    isJoined(facts) && {
      title: 'Write one report of the run and its retries',
      text: 'It has every row once, with its last result.',
      command: `cqbatch report ${facts.id} --with-retries`,
      group: 'all',
      rows: 0,
    },
  ];
  return steps.filter((step) => step !== false);
}

export function commandsOf(steps: readonly NextStep[]): readonly string[] {
  return steps.flatMap(({ command }) => command ?? []);
}

/** The command that continues a run where it was at work: here, or at a daemon. */
export function resumeCommand({ id, submitted }: ResumableRun): string {
  return `cqbatch resume ${id}${submitted ? ' --submit' : ''}`;
}

function isJoined({ isPartOfOthers, isCured }: StepFacts): boolean {
  return isPartOfOthers === true || isCured === true;
}

function checksFirst({ phase, manner }: StepFacts): boolean {
  return phase === 'stopped' && wentWrong(manner);
}

function stepsBeforeTheEnd(facts: StepFacts): readonly (NextStep | false)[] {
  const { id, phase, state } = facts;
  if (phase === 'stopped')
    return [lookStep(facts), checksFirst(facts) && checkStep(facts), continueStep(facts)];
  return [
    state === 'paused' && {
      title: 'Continue the run',
      text: 'It is paused: until you unpause it, it calls no row.',
      command: `cqbatch unpause ${id}`,
      group: 'all',
      rows: 0,
    },
  ];
}

function lookStep(facts: StepFacts): NextStep | false {
  const { id, rowToSee, mayBeDone, outcomes } = facts;
  if (rowToSee === undefined) return false;
  const { row, failure } = rowToSee;
  const message = failure?.message.replace(/\.$/, '') ?? '';
  return {
    title: `Look at row ${count(row)}${message === '' ? '' : `: ${shortened(message, longestMessage)}`}`,
    text: [
      ...(failure === undefined
        ? ['The API may have processed this row although no usable answer came.']
        : failureTexts(facts)),
      mayBeDone &&
        'An earlier run may have done these rows: "cqbatch list" shows the runs, and --skip-done leaves out what one of them did.',
    ]
      .filter(Boolean)
      .join(' '),
    command: `cqbatch show ${id} --row ${row}`,
    group: failure === undefined ? 'all unclear' : 'failed',
    rows: failure === undefined ? facts.unclear : outcomes.failed,
  };
}

const longestMessage = 100;

function failureTexts({ outcomes, codes }: StepFacts): readonly string[] {
  const { failed, succeeded } = outcomes;
  const [most] = codes.filter(({ outcome }) => outcome === 'failed').toSorted((a, b) => b.count - a.count);
  if (most === undefined) return [];
  const which = failedRowsText(failed, failed + succeeded, { code: most.code, rows: most.count });
  return succeeded === 0
    ? [
        which,
        'If all rows are wrong, correct the manifest, --operation or the base URL, and start a new run.',
      ]
    : [which];
}

function continueStep(facts: StepFacts): NextStep {
  const { id, manner, outcomes } = facts;
  const { not_attempted: uncalled, pending } = outcomes;
  const left = uncalled + pending;
  const again = rowsTo('resume', facts);
  const command = resumeCommand(facts);
  if (left + again === 0)
    return { title: 'Write the report', text: 'Every row has its result.', command, group: 'all', rows: 0 };
  const isGuard = manner === 'halted';
  const attempted = again > 0 ? `, ${count(again)} of them after a failed attempt` : '';
  const [title, calls] =
    left > 0
      ? [
          `Continue with the ${counted(left, 'row', ['that is', 'that are'])} left`,
          `It calls the ${counted(left + again, 'row')} without a result${attempted}, and no other.`,
        ]
      : [
          `Continue with the ${counted(again, 'row')} without a result`,
          `It calls ${again === 1 ? 'this row' : 'these rows'} again, after a failed attempt, and no other.`,
        ];
  return {
    title,
    text: [
      checksFirst(facts) && !isGuard && 'First correct what stopped the run.',
      calls,
      isGuard && 'Failures count from now on.',
      pending > 0 &&
        `It first finds out what became of ${counted(pending, 'pending row')}, which may have been called.`,
      checksFirst(facts) && `To end the run for good, type: cqbatch cancel ${id}`,
    ]
      .filter(Boolean)
      .join(' '),
    command,
    ...groupToContinue(uncalled, pending, again),
  };
}

function groupToContinue(uncalled: number, pending: number, again: number): Pick<NextStep, 'group' | 'rows'> {
  if (uncalled > 0) return { group: 'not_attempted', rows: uncalled };
  return pending > 0 ? { group: 'pending', rows: pending } : { group: 'resume', rows: again };
}

/** A note that rows of a cancelled run were not called, as the person wished. */
function notCalledNote(facts: StepFacts): NextStep | false {
  const { id, state, outcomes, isCured } = facts;
  const { not_attempted: uncalled, failed } = outcomes;
  const givenUp = rowsTo('cancelled', facts);
  if (state !== 'cancelled' || isCured || uncalled + givenUp === 0) return false;
  const [what, group, rows, others] =
    uncalled > 0
      ? (['not called', 'not_attempted', uncalled, failed] as const)
      : (['given up after a failed attempt', 'cancelled', givenUp, failed - givenUp] as const);
  return {
    title: `${counted(rows, 'row', ['was', 'were'])} ${what}, as you wished`,
    text: `Only if you have changed your mind: "cqbatch retry ${id}" calls them${others > 0 ? ', and the rows that failed' : ''}.`,
    group,
    rows,
    isNote: true,
  };
}

function checkStep({ id, unclear, canCheck, check, phase }: StepFacts): NextStep | false {
  const command = `cqbatch check ${id}`;
  return (
    unclear > 0 &&
    check === undefined && {
      title: `Check ${counted(unclear, 'unclear row')} in the service`,
      text: [
        'The API may have made the change although no usable answer came; if the row succeeded, perhaps twice.',
        !canCheck && 'Look at the entries there: no command can check them.',
        canCheck && phase === 'in progress' && `As soon as this run has stopped: ${command}`,
      ]
        .filter(Boolean)
        .join(' '),
      ...(canCheck && phase !== 'in progress' && { command }),
      group: 'all unclear',
      rows: unclear,
    }
  );
}

/** What to do when a check has answered the unclear rows: call those again that were not done. */
function stepAfterCheck({ check, unclear, isCured, unfinishedRetry }: StepFacts): NextStep | false {
  if (check === undefined || isCured || unfinishedRetry !== undefined) return false;
  const { run, notDone } = check;
  return (
    notDone > 0 && {
      title: `Retry ${counted(notDone, 'unclear row')}`,
      text: `The last check found that ${notDone === 1 ? 'this row was' : 'these rows were'} not done.`,
      command: `cqbatch retry ${run} --unclear`,
      group: 'all unclear',
      rows: unclear,
    }
  );
}

function undoStep({ id, state, outcomes: { succeeded }, undo: can }: StepFacts): NextStep | false {
  return (
    state === 'cancelled' &&
    can !== undefined &&
    succeeded > 0 && {
      title:
        can === 'values'
          ? `If it was a mistake, undo ${counted(succeeded, 'row')}`
          : `If it was a mistake, change ${counted(succeeded, 'row')} back by hand`,
      text:
        can === 'values'
          ? 'A new run puts the old values back where they are known. It asks first.'
          : 'No call can take these changes back. The command lists the entries.',
      command: `cqbatch undo ${id}`,
      group: 'succeeded',
      rows: succeeded,
    }
  );
}
