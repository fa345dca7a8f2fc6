import { localTime } from '../../../base/text/local-time.ts';
import { apiText, type LimitedApi, usualPriority } from '../../../domain/terms.ts';
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
import { timeMarkup } from '../time-markup.ts';
import type { ControlDialog } from './control-dialog.ts';
import { actionsFor, type RunAction } from './run-actions.ts';
import { sparkline } from './svg.ts';
import { wantedRateText } from './wanted-rate.ts';

export function noteElement(text: string): HTMLElement {
  return element('p', { class: 'note', role: 'status' }, text);
}

export function commandNote(text: string, command: string): HTMLElement {
  return element('p', { class: 'empty' }, text, element('code', command));
}

export function runLink(id: string): HTMLElement {
  return element('a', { href: `#run=${id}`, id: `run-${id}` }, id);
}

export function stateText({ kind, text }: ReturnType<typeof stateOf>): HTMLElement {
  return element('span', { class: `state ${kind}` }, text);
}

/** An API without what is the same for most: `api.example.com/v2 (rate group acme)`. */
export function shownApi(api: LimitedApi): string {
  return apiText(api).replace(/^https:\/\//, '');
}

export function timeElement(time: string): Child {
  return drawnMarkup(timeMarkup(time));
}

/** What the page says once for all its runs. */
export interface ToldForAll {
  /** Whether all runs of the page call the same API. */
  readonly isOfOneApi?: boolean;
  /** Whether the page says that the datastore does not answer. */
  readonly isDatastoreAway: boolean;
}

/** A run in progress, in a row of the overview. */
export function runRow(run: RunData, controls: ControlDialog | undefined, told: ToldForAll): HTMLElement {
  const { id, priority, manifest, local, wait } = run;
  const isCalled = wait === undefined && run.isLastKnown === undefined;
  const pending = pendingText(run, controls);
  const asked = pending !== undefined && element('span', { class: 'quiet', role: 'status' }, ` ${pending}…`);
  const title = element('h3', runLink(id), ' ', stateText(stateOf(run)), asked);
  const chips = [
    priority !== usualPriority && `${priority} priority`,
    told.isOfOneApi !== true && shownApi(run),
    wantedRateText(run),
  ].map((text) => text && element('span', { class: 'chip' }, text));
  const about = element('p', { class: 'quiet' }, manifest, ' ', chips);
  const curve = isCalled && sparkline(local?.curve, `Rows per second of ${id} in the last two minutes`);
  const progress = element('div', barOf(run), element('p', figuresText(run)));
  const parts = [
    element('div', title, about),
    // The element has a place in the grid even when empty. The cards above say whether the run fails.
    element('p', { class: 'doing' }, shownWait(run, told)),
    progress,
    element('div', { class: 'curve' }, curve),
  ];
  return element('article', { class: 'run', id: `card-${id}` }, parts, menuOf(run, controls));
}

function barOf({ counts, rows, local }: RunData): HTMLElement {
  return outcomeBar({ counts, rows, codes: local?.codes ?? [] });
}

/** Elements with the progress of a run. @param isReported whether the page has the report, whose head has rate and counts */
export function progressElements(run: RunData, isReported: boolean, told: ToldForAll): Child {
  const { ended, priority, coordinator } = run;
  return [
    !ended && troubles(run, told),
    barOf(run),
    (!ended || !isReported) && [
      element('p', figuresText(run)),
      drawnMarkup(
        factList([
          ['Requested rate', wantedRateText(run) || run.wantedRate],
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

/** Why no row is called, unless the page says so above. */
function shownWait(run: RunData, { isDatastoreAway }: ToldForAll): string {
  const isTold = isDatastoreAway && (run.wait?.of === 'datastore' || run.lastSeenAt !== undefined);
  return isTold ? '' : waitText(run);
}

/** What is wrong with a run in progress: a banner that says why no row is called, and whether the run fails. */
function troubles(run: RunData, told: ToldForAll): Child {
  const waits = shownWait(run, told);
  const failing = failingText(run);
  return [
    waits !== '' && element('p', { class: `banner ${stateOf(run).kind}` }, waits),
    failing !== undefined && element('p', element('b', { class: 'lost' }, failing)),
  ];
}

/** `Pausing` after a command that the run has not obeyed yet. */
function pendingText(run: RunData, controls: ControlDialog | undefined): string | undefined {
  const pending = controls?.pendingControl(run);
  return actionsFor(run).find(({ control }) => control === pending)?.askedText;
}

/** A button for an action of a run. @param place makes its id unique, where a run has several buttons for it */
export function actionButton(
  run: RunData,
  { control, text, askedText, isFinal, isMain }: RunAction,
  controls: ControlDialog,
  place = '',
): HTMLElement {
  const { id } = run;
  const isBusy = control === controls.pendingControl(run) && askedText !== undefined;
  const shown = isBusy ? askedText : text;
  const click = ({ currentTarget }: Event): void => {
    const clicked = currentTarget as HTMLElement;
    if (clicked.ariaBusy === 'true') return;
    closeMenu(clicked.closest<HTMLDetailsElement>('.menu'));
    controls.openQuestion(id, clicked.dataset['control'] as ControlName);
  };
  return button(shown, click, {
    // Pausing and unpausing have the same button, so that the focus stays on it. Its data says which it is.
    id: [control === 'unpause' ? 'pause' : control, id, place].filter(Boolean).join('-'),
    class: (isFinal && 'final') || (isMain && 'main'),
    'data-control': control,
    'data-run': id,
    'aria-label': `${shown} run ${id}`,
    'aria-busy': isBusy && 'true',
  });
}

/** The buttons that control a run. @param controls undefined when the reader may not control runs. @param others further buttons */
export function buttonsOf(run: RunData, controls: ControlDialog | undefined, others?: Child): Child {
  const actions = actionsFor(run);
  if (controls === undefined || actions.length === 0) return false;
  const buttons = actions.map((action) => actionButton(run, action, controls));
  return element('div', { class: 'buttons', id: `buttons-${run.id}` }, buttons, others);
}

/** The focus goes to the button of the menu, and returns there after a dialog. */
function closeMenu(menu: HTMLDetailsElement | null): void {
  if (menu === null) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
}

/** The same buttons in a menu, which closes when the reader goes elsewhere. */
function menuOf(run: RunData, controls: ControlDialog | undefined): Child {
  const buttons = buttonsOf(run, controls);
  if (buttons === false) return false;
  const summary = element(
    'summary',
    { 'aria-label': `Actions of run ${run.id}`, id: `actions-${run.id}`, 'data-run': run.id },
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
        closeMenu(event.currentTarget as HTMLDetailsElement);
      },
    },
    summary,
    buttons,
  );
  return menu;
}
