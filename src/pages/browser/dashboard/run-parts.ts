import { localTime, timeAgo, timeAhead } from '../../../base/text/local-time.ts';
import { apiText, usualPriority } from '../../../domain/terms.ts';
import { factList } from '../../../engine/report/html/markup.ts';
import {
  type ControlName,
  failingText,
  figuresText,
  type RunData,
  stateOf,
  waitText,
} from '../../server/page-data.ts';
import { button, type Child, drawnMarkup, element, outcomeBar } from '../dom.ts';
import type { ControlDialog } from './control-dialog.ts';
import { actionsFor, type RunAction } from './run-actions.ts';
import { sparkline } from './svg.ts';

export function noteElement(text: string): HTMLElement {
  return element('p', { class: 'note', role: 'status' }, text);
}

export function runLink(id: string): HTMLElement {
  return element('a', { href: `#run=${id}`, id: `run-${id}` }, id);
}

export function stateText({ kind, text }: ReturnType<typeof stateOf>): HTMLElement {
  return element('span', { class: `state ${kind}` }, text);
}

/** A time as its distance from now; its title has the exact one. */
export function timeElement(time: string, now = new Date()): HTMLElement {
  const date = new Date(time);
  const text = date > now ? timeAhead(date, now) : timeAgo(date, now);
  return element('time', { datetime: time, title: localTime(time) }, text);
}

/**
 * A run in progress, in a row of the overview.
 *
 * @param isOfOneApi whether all runs of the page call the same API
 */
export function runRow(run: RunData, controls: ControlDialog | undefined, isOfOneApi: boolean): HTMLElement {
  const { id, priority, manifest, wantedRate, local, wait } = run;
  const isCalled = wait === undefined && run.isLastKnown === undefined;
  const title = element('h3', runLink(id), ' ', stateText(stateOf(run)));
  const chips = [
    priority !== usualPriority && `${priority} priority`,
    !isOfOneApi && apiText(run),
    wantedRate !== 'auto' && `at most ${wantedRate}`,
  ].map((text) => text && element('span', { class: 'chip' }, text));
  const about = element('p', { class: 'quiet' }, manifest, ' ', chips);
  const curve = isCalled && sparkline(local?.curve, `Rows per second of ${id} in the last two minutes`);
  const progress = element('div', barOf(run), element('p', figuresText(run)));
  const parts = [
    element('div', title, about),
    troubleOf(run),
    progress,
    element('div', { class: 'curve' }, curve),
  ];
  return element('article', { class: 'run', id: `card-${id}` }, parts, menuOf(run, controls));
}

function barOf({ counts, rows, local }: RunData): HTMLElement {
  return outcomeBar({ counts, rows, codes: local?.codes ?? [] });
}

/** Elements with the progress of a run. @param isReported whether the page has the report, whose head has rate and counts */
export function progressElements(run: RunData, isReported: boolean): Child {
  const { ended, priority, coordinator } = run;
  return [
    !ended && troubleOf(run),
    barOf(run),
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

/** A button for an action of a run. @param place makes its id unique, where a run has several buttons for it */
export function actionButton(
  run: RunData,
  { control, text, askedText, isFinal }: RunAction,
  controls: ControlDialog,
  place = '',
): HTMLElement {
  const { id } = run;
  const isBusy = control === controls.pendingControl(run) && askedText !== undefined;
  const shown = isBusy ? askedText : text;
  const click = ({ currentTarget }: Event): void => {
    const { ariaBusy, dataset } = currentTarget as HTMLElement;
    if (ariaBusy !== 'true') controls.openQuestion(id, dataset['control'] as ControlName);
  };
  return button(shown, click, {
    // Pausing and unpausing have the same button, so that the focus stays on it. Its data says which it is.
    id: [control === 'unpause' ? 'pause' : control, id, place].filter(Boolean).join('-'),
    class: isFinal && 'final',
    'data-control': control,
    'data-run': id,
    'aria-label': `${shown} run ${id}`,
    'aria-busy': isBusy && 'true',
  });
}

/** The buttons that control a run. @param controls undefined when the reader may not control runs */
export function buttonsOf(run: RunData, controls: ControlDialog | undefined): Child {
  const actions = actionsFor(run);
  if (controls === undefined || actions.length === 0) return false;
  const buttons = actions.map((action) => actionButton(run, action, controls));
  return element('div', { class: 'buttons', id: `buttons-${run.id}` }, buttons);
}

/** The same buttons in a menu, which closes when the reader goes elsewhere. */
function menuOf(run: RunData, controls: ControlDialog | undefined): Child {
  const buttons = buttonsOf(run, controls);
  if (buttons === false) return false;
  const summary = element(
    'summary',
    { 'aria-label': `Actions of run ${run.id}`, id: `actions-${run.id}` },
    '⋯',
  );
  const close = (menu: HTMLDetailsElement, next: unknown): void => {
    const staysNear = next instanceof Element && (menu.contains(next) || next.closest('dialog') !== null);
    if (!staysNear) menu.open = false;
  };
  const menu = element(
    'details',
    {
      class: 'menu',
      id: `menu-${run.id}`,
      focusout: (event) => {
        const { relatedTarget, currentTarget } = event as FocusEvent;
        // The focus is nowhere while a dialog opens, or another window has it.
        if (relatedTarget !== null) close(currentTarget as HTMLDetailsElement, relatedTarget);
      },
      keydown: (event) => {
        if ((event as KeyboardEvent).key !== 'Escape') return;
        const opened = event.currentTarget as HTMLDetailsElement;
        opened.open = false;
        opened.querySelector('summary')?.focus();
      },
    },
    summary,
    buttons,
  );
  return menu;
}
