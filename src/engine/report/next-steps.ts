import { shellWord } from '../../base/text/command-words.ts';
import { count, counted } from '../../base/text/format.ts';
import { shortened } from '../../base/text/printable.ts';
import { commonCodeText } from '../../domain/common-code.ts';
import { type Outcome, type OutcomeCounts, type StopManner, wentWrong } from '../../domain/terms.ts';
import { type RowFacts, type RowStep, rowStep, rowsTo, unclearOf } from './row-steps.ts';

/** What a person does next. Terminal, pages, notifications and JSON show the same steps, in the same order. */
export interface NextStep {
  /** The title of the step: `Retry 84 rows`. */
  readonly title: string;
  /** What to look at before the step: `all 39 unclear`. */
  readonly first?: string;
  readonly text: string;
  readonly command?: string;
  /** The group of rows that the step is about. */
  readonly group: StepGroup;
  readonly rows: number;
  /** Present if there is nothing to do. */
  readonly isNote?: true;
}

/** The rows that a step is about: those of an outcome or of a `RowStep`, all unclear ones, or all. */
export type StepGroup = Outcome | RowStep | 'all unclear' | 'all';

/** A row at which a person should look before anything is called again, by its number in the manifest. */
export interface RowToSee {
  readonly row: number;
  /** Why the row failed. Absent for a row without a result. */
  readonly failure?: { readonly code: string; readonly message: string };
}

/** Whether a run calls further rows by itself, only when it is resumed, or never. */
export type RunPhase = 'in progress' | 'stopped' | 'ended';

export interface StepFacts extends RowFacts {
  readonly id: string;
  readonly phase: RunPhase;
  /** How the run ended. Undefined while the run has not ended. */
  readonly manner: StopManner | undefined;
  readonly rowToSee: RowToSee | undefined;
  /** Whether the failure of the row to see may mean that its change was already made. */
  readonly mayBeDone?: boolean;
  readonly outcomes: OutcomeCounts;
  readonly unclear: number;
  /** Whether `cqbatch check` can list the entries. */
  readonly canCheck: boolean;
  /** What `cqbatch undo` can do: put values back, or only list the entries. */
  readonly undo?: 'values' | 'list' | undefined;
  /** The path of the file with the rows to correct. */
  readonly correctFile?: string | undefined;
  /** Whether the run retries rows of another run, in whose report it is not included. */
  readonly isPartOfOthers?: boolean;
  /** Whether every row that failed has succeeded in a retry. */
  readonly isCured?: boolean;
  /** The id of a retry that may still call rows. */
  readonly unfinishedRetry?: string | undefined;
}

export function nextSteps(facts: StepFacts): readonly NextStep[] {
  const steps: readonly (NextStep | false)[] = [
    ...(facts.phase === 'ended' ? [notCalledNote(facts)] : stepsBeforeTheEnd(facts)),
    facts.unfinishedRetry !== undefined && {
      title: `Continue run ${facts.unfinishedRetry}, which retries rows of this run`,
      text: 'It has stopped, and may still call rows.',
      command: resumeCommand(facts.unfinishedRetry),
      group: 'retry',
      rows: rowsTo('retry', facts),
    },
    !checksFirst(facts) && checkStep(facts),
    undoStep(facts),
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

export function resumeCommand(id: string): string {
  return `cqbatch resume ${id}`;
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
      title: 'Unpause the run',
      text: 'Until then, it calls no row.',
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
  const called = counted(failed + succeeded, 'called row');
  const common = commonCodeText({ code: most.code, rows: most.count }, failed);
  const which =
    succeeded === 0 ? `All ${called} failed, ${common}.` : `${count(failed)} of ${called} failed, ${common}.`;
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
  const isGuard = manner === 'halted';
  const attempted = again > 0 ? `, ${count(again)} of them after a failed attempt` : '';
  return {
    title: `Continue with the ${counted(left, 'row', ['that is', 'that are'])} left`,
    text: [
      checksFirst(facts) && !isGuard && 'First correct what stopped the run.',
      `It calls the ${counted(left + again, 'row')} without a result${attempted}, and no other.`,
      isGuard && 'Failures count from now on.',
      pending > 0 &&
        `It first finds out what became of ${counted(pending, 'pending row')}, which may have been called.`,
      checksFirst(facts) && `To end the run for good, type: cqbatch cancel ${id}`,
    ]
      .filter(Boolean)
      .join(' '),
    command: resumeCommand(id),
    group: uncalled > 0 ? 'not_attempted' : 'pending',
    rows: uncalled > 0 ? uncalled : pending,
  };
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

function checkStep({ id, unclear, canCheck, phase }: StepFacts): NextStep | false {
  const command = `cqbatch check ${id}`;
  return (
    unclear > 0 && {
      title: `Check ${counted(unclear, 'unclear row')} in the service`,
      text: [
        'The API may have made the change although no usable answer came; if the row succeeded, perhaps twice.',
        !canCheck && 'Look at the entries there: cqbatch cannot list them.',
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

function stepsAfterFailures(facts: StepFacts): readonly (NextStep | false)[] {
  const [toRetry, toDecide] = [rowsTo('retry', facts), rowsTo('decide', facts)];
  return [
    toRetry > 0 &&
      facts.unfinishedRetry === undefined && {
        title: `Retry ${counted(toRetry, 'row')}`,
        ...unclearOf('retry', facts),
        text: {
          ended: 'Such a row may succeed in a new run. If it does not, ask the operators of the service.',
          stopped: 'Such a row may succeed in a new run. It is better to continue this run first.',
          'in progress': `Such a row may succeed in a new run. As soon as this run has stopped: ${retryCommand(facts)}`,
        }[facts.phase],
        ...(facts.phase !== 'in progress' && { command: retryCommand(facts) }),
        group: 'retry',
        rows: toRetry,
      },
    correctStep(facts, rowsTo('correct', facts)),
    toDecide > 0 && {
      title: `Decide about ${counted(toDecide, 'row')}`,
      ...unclearOf('decide', facts),
      text: 'A retry alone would not help, or must not be made. The report says for each code what to do first.',
      group: 'decide',
      rows: toDecide,
    },
  ];
}

/** The command of a retry. `--transient` leaves out rows that would fail again, or that a person has cancelled. */
function retryCommand({ id, codes, state }: StepFacts): string {
  const steps = codes
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'not_attempted')
    .map(({ code }) => rowStep(code, state));
  const isAll = steps.every((step) => step === 'retry' || step === 'resume');
  return `cqbatch retry ${id}${isAll ? '' : ' --transient'}`;
}

function correctStep(facts: StepFacts, rows: number): NextStep | false {
  const { phase, correctFile } = facts;
  return (
    rows > 0 && {
      title: `Correct ${counted(rows, 'row')}`,
      ...unclearOf('correct', facts),
      text:
        phase === 'in progress'
          ? 'As soon as this run has stopped, its report has correct.csv with only these rows. Correct the cells that the messages name, then run it.'
          : 'Correct the cells that the messages name in correct.csv, which has only these rows. Then run it.',
      ...(phase !== 'in progress' &&
        correctFile !== undefined && { command: `cqbatch run ${shellWord(correctFile)}` }),
      group: 'correct',
      rows,
    }
  );
}
