import { localTime } from '../../../base/text/local-time.ts';
import { apiText, usualPriority } from '../../../domain/terms.ts';
import { factList } from '../../../engine/report/html/markup.ts';
import {
  type ControlName,
  controlNames,
  failingText,
  figuresText,
  isShared,
  type RunData,
  stateOf,
  waitText,
} from '../../server/page-data.ts';
import { button, type Child, drawnMarkup, element, outcomeBar } from '../dom.ts';
import type { ControlDialog } from './control-dialog.ts';

export function noteElement(text: string): HTMLElement {
  return element('p', { class: 'note', role: 'status' }, text);
}

export function runLink(id: string): HTMLElement {
  return element('a', { href: `#run=${id}`, id: `run-${id}` }, id);
}

export function stateText({ kind, text }: ReturnType<typeof stateOf>): HTMLElement {
  return element('span', { class: `state ${kind}` }, text);
}

export function runRow(run: RunData, controls: ControlDialog | undefined): HTMLElement {
  const title = element('h3', runLink(run.id), ' ', stateText(stateOf(run)));
  const what = element('div', title, element('p', { class: 'quiet' }, run.manifest));
  const progress = element('div', outcomeBar(run.counts, run.rows), element('p', figuresText(run)));
  const parts = [what, troubleOf(run), progress, buttonsOf(run, controls)];
  return element('article', { class: 'run', id: `card-${run.id}` }, parts);
}

/** Elements with the progress of a run. @param isReported whether the page has the report, whose head has rate and counts */
export function progressElements(run: RunData, isReported: boolean): Child {
  const { ended, priority, coordinator } = run;
  return [
    !ended && troubleOf(run),
    outcomeBar(run.counts, run.rows),
    (!ended || !isReported) && [
      element('p', figuresText(run)),
      drawnMarkup(
        factList([
          ['Requested rate', run.wantedRate],
          ['Priority', priority === usualPriority ? '' : priority],
          ['Manifest', isReported ? '' : run.manifest],
          ['API', isReported ? '' : apiText(run)],
          ['Started', isReported || run.startedAt === undefined ? '' : localTime(run.startedAt)],
          ['Process', coordinator && `${coordinator.pid} on ${coordinator.host}`],
        ]),
      ),
    ],
  ];
}

/**
 * Why no row is called, and whether the run fails. A wait comes first, because a small screen cuts the end. The element is there even when
 * empty: it has a place in the grid.
 */
function troubleOf(run: RunData): HTMLElement {
  const failing = failingText(run);
  const failure = failing !== undefined && element('b', { class: 'lost' }, failing);
  return element('p', { class: 'doing' }, waitText(run), ' ', failure);
}

/** The text of the button for each command, and the text after a command that the run has not obeyed yet. */
const buttonTexts: Readonly<Record<ControlName, readonly [usual: string, asked?: string]>> = {
  pause: ['Pause…', 'Pausing'],
  unpause: ['Unpause…', 'Unpausing'],
  'set-rate': ['Set rate…'],
  'set-priority': ['Set priority…'],
  cancel: ['Cancel…', 'Cancelling'],
};

/** The buttons that control a run. @param controls undefined when the reader may not control runs */
export function buttonsOf(run: RunData, controls: ControlDialog | undefined): Child {
  const { id, state } = run;
  if (controls === undefined || (state !== 'running' && state !== 'paused')) return false;
  const unfit: ControlName[] = [state === 'running' ? 'unpause' : 'pause'];
  // Only runs that share workers have a priority.
  if (!isShared(run)) unfit.push('set-priority');
  const asked = controls.pendingControl(run);
  const fitting = controlNames.filter((control) => !unfit.includes(control));
  const buttons = fitting.map((control) => {
    const [usual, pending] = buttonTexts[control];
    const isBusy = control === asked && pending !== undefined;
    const text = isBusy ? pending : usual;
    const click = ({ currentTarget }: Event): void => {
      const { ariaBusy, dataset } = currentTarget as HTMLElement;
      if (ariaBusy !== 'true') controls.openQuestion(id, dataset['control'] as ControlName);
    };
    return button(text, click, {
      // Pausing and unpausing have the same button, so that the focus stays on it. Its data says which it is.
      id: `${control === 'unpause' ? 'pause' : control}-${id}`,
      'data-control': control,
      'data-run': id,
      'aria-label': `${text} run ${id}`,
      'aria-busy': isBusy && 'true',
    });
  });
  return element('div', { class: 'buttons', id: `buttons-${id}` }, buttons);
}
