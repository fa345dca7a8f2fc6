import { count, counted } from '../../../base/text/format.ts';
import { apiText, priorities } from '../../../domain/terms.ts';
import type { ControlName, RunData } from '../../server/page-data.ts';
import { type Child, element } from '../dom.ts';
import { rateFacts, rateField } from './rate-field.ts';
import { isAfterCanary } from './run-actions.ts';

/** What the dialog asks about: a run in progress is controlled, a stopped one is resumed. */
export type Asked = ControlName | 'resume';

/** What is asked before a run is controlled or resumed. */
export interface Question {
  readonly title: string;
  /** Facts that change while the dialog is open. */
  readonly facts?: Child;
  /** An input whose `name` is that of a member of the request. */
  readonly field?: Child;
  /** A number that the reader types, to show that it was read. */
  readonly numberToType?: number;
  readonly verb: string;
}

/** From more rows on, the reader types a number, as in the terminal. */
const confirmAbove = 1_000;

export const questions: Readonly<Record<Asked, (run: RunData) => Question>> = {
  pause: ({ id }) => ({
    title: `Pause run ${id}?`,
    facts: element('p', 'Calls in flight finish. No other row is called until you unpause the run.'),
    verb: 'Pause run',
  }),
  unpause: (run) => {
    const { id, rows, done } = run;
    const [title, verb] = isAfterCanary(run)
      ? [`Continue with ${counted(rows - done, 'row')} of run ${id}?`, 'Continue']
      : [`Unpause run ${id}?`, 'Unpause run'];
    return { title, facts: unpauseFacts(run), verb };
  },
  cancel: (run) => ({
    title: `Cancel run ${run.id} permanently?`,
    facts: [
      element(
        'p',
        `Run ${run.id} of ${run.manifest} on ${apiText(run)} is ${run.state}: ${count(run.done)} of ${counted(run.rows, 'row')} done.`,
      ),
      element('p', `${counted(run.rows - run.done, 'row')} will not be called.`),
      element('p', element('b', keptText(run)), " A cancelled run can't be continued."),
    ],
    ...(run.rows - run.done > confirmAbove && { numberToType: run.rows }),
    verb: 'Cancel run',
  }),
  'set-rate': (run) => ({
    title: `Set the rate of run ${run.id}`,
    facts: rateFacts(run),
    field: rateField(run),
    verb: 'Set rate',
  }),
  'set-priority': ({ id, priority }) => {
    const options = priorities.map((each) => element('option', { selected: each === priority }, each));
    const select = element('select', { name: 'priority', id: 'priority' }, options);
    return {
      title: `Set the priority of run ${id}`,
      field: labelledInput('Rows of a higher priority are called first ', select),
      verb: 'Set priority',
    };
  },
  resume: ({ id, local, counts }) => ({
    title: `Resume run ${id}?`,
    facts: [
      local?.steps
        .filter(({ group }) => group !== 'retry' && group !== 'correct' && group !== 'decide')
        .map(({ title, text }) => element('p', element('b', title), '. ', text)),
      counts.failed > 0 &&
        element('p', element('a', { href: `#run=${id}&show=failed` }, 'Look at the failed rows first')),
    ],
    verb: 'Resume run',
  }),
};

function unpauseFacts(run: RunData): Child {
  const { rows, done, counts } = run;
  const left = `Its calls continue: ${counted(rows - done, 'row', ['is', 'are'])} left.`;
  if (!isAfterCanary(run)) return element('p', left);
  return element(
    'p',
    `Of its first ${counted(done, 'row')}, ${count(counts.succeeded)} succeeded and ${count(counts.failed)} failed. ${left}`,
  );
}

/** What a cancelled run leaves in the service. */
function keptText({ counts: { succeeded } }: RunData): string {
  if (succeeded === 0) return 'No row has succeeded yet.';
  const rows = counted(succeeded, 'row', ['has succeeded and stays', 'have succeeded and stay']);
  return `${rows} as ${succeeded === 1 ? 'it is' : 'they are'}: cancelling takes nothing back.`;
}

export function labelledInput(label: string, field: HTMLElement): HTMLElement {
  return element('p', element('label', { for: field.id }, label), field);
}
