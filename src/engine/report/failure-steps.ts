import { shellWord } from '../../base/text/command-words.ts';
import { counted } from '../../base/text/format.ts';
import type { NextStep, StepFacts } from './next-step.ts';
import { type RowStep, rowsTo, unclearOf } from './row-steps.ts';

/** What to do about rows that failed: retry, correct or decide. */
export function stepsAfterFailures(facts: StepFacts): readonly (NextStep | false)[] {
  const [toRetry, toDecide] = [openRows('retry', facts), openRows('decide', facts)];
  return [
    toRetry > 0 &&
      facts.unfinishedRetry === undefined && {
        title: `Retry ${counted(toRetry, 'row')}`,
        ...uncheckedOf('retry', facts),
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
      ...uncheckedOf('decide', facts),
      text: 'A retry alone would not help, or must not be made. The report says for each code what to do first.',
      group: 'decide',
      rows: toDecide,
    },
  ];
}

/** The rows of a step, without unclear rows that a check has answered. */
function openRows(step: RowStep, facts: StepFacts): number {
  const answered = facts.check === undefined ? 0 : rowsTo(step, facts, 'unclear');
  return rowsTo(step, facts) - answered;
}

/** What to look at before a step, unless a check has looked. */
function uncheckedOf(step: RowStep, facts: StepFacts): ReturnType<typeof unclearOf> {
  return facts.check === undefined ? unclearOf(step, facts) : {};
}

/** The command of a retry. `--transient` leaves out rows that would fail again, or that a person has cancelled. */
function retryCommand({ id }: StepFacts): string {
  return `cqbatch retry ${id} --transient`;
}

export function correctStep(facts: StepFacts, rows: number): NextStep | false {
  const { phase, correctFile, submitted } = facts;
  const verb = submitted ? 'submit' : 'run';
  return (
    rows > 0 && {
      title: `Correct ${counted(rows, 'row')}`,
      ...uncheckedOf('correct', facts),
      text:
        phase === 'in progress'
          ? 'As soon as this run has stopped, its report has correct.csv with only these rows. Correct the cells that the messages name, then run it.'
          : `Correct the cells that the messages name in correct.csv, which has only these rows. Then ${verb} it.`,
      ...(phase !== 'in progress' &&
        correctFile !== undefined && { command: `cqbatch ${verb} ${shellWord(correctFile)}` }),
      group: 'correct',
      rows,
    }
  );
}
