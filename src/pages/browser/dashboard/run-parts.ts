import { count, counted, perSecond } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText, outcomes, outcomeText, percentOf, totalOf, usualPriority } from '../../../domain/terms.ts';
import { factList } from '../../../engine/report/html/markup.ts';
import { type ControlName, type RunData, sentenceOf, stateOf } from '../../server/page-data.ts';
import { button, type Child, drawn, element, outcomeBar } from '../dom.ts';

/** Called when the reader clicks a button of a run. */
export type OnControl = (runId: string, control: ControlName) => void;

/** The address of the page of a run: `#run=ID`. */
export function addressOf(id: string): string {
  return `#run=${id}`;
}

/** A run in progress: its rows, its rate, and what limits the rate. */
export function runCard(run: RunData, onControl: OnControl | undefined): Child {
  const link = element('a', { href: addressOf(run.id), id: `run-${run.id}` }, run.id);
  return [element('h3', link, ' ', stateText(run)), progressElements(run), buttonsOf(run, onControl)];
}

export function stateText(run: RunData): HTMLElement {
  const { text, kind } = stateOf(run);
  return element('span', { class: `state ${kind}` }, text);
}

/** The bar of outcomes, what the run does now in a sentence, and its facts. */
export function progressElements(run: RunData): Child {
  const { rows, done, counts, throughput, pace, ended, wantedRate, priority, waiting, lastSeenAt } = run;
  const countTexts = outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${count(counts[outcome])} ${outcomeText(outcome)}`);
  const label = [`${count(done)} of ${count(rows)} rows (${percentOf(done, rows)} %)`, ...countTexts].join(
    ', ',
  );
  const isKnown = lastSeenAt === undefined;
  const speed = isKnown && throughput ? perSecond(throughput.rowsPerSecond) : '';
  const isCalled = isKnown && !ended && pace !== undefined;
  return [
    !ended && element('p', { class: 'doing' }, sentenceOf(run)),
    outcomeBar(counts, rows - totalOf(counts), label),
    element('p', label),
    drawn(
      factList([
        [throughput?.of === 'average' ? 'Average rate' : 'Rate now', speed],
        ['Allowed', isCalled ? (pace.rate === undefined ? 'unlimited' : perSecond(pace.rate)) : ''],
        ['API limit', isCalled && pace.limit !== undefined ? perSecond(pace.limit) : ''],
        ['Requested rate', ended ? '' : wantedRate],
        ['Priority', ended || priority === usualPriority ? '' : priority],
        ['Why this rate', isCalled && waiting === undefined ? pace.reason : ''],
        ['Waiting for a retry', run.held === undefined ? '' : counted(run.held, 'row')],
        ['Manifest', run.manifest],
        ['API', apiText(run)],
        ['Started', run.startedAt === undefined ? '' : localTime(run.startedAt)],
        ['Process', run.coordinator && `${run.coordinator.pid} on ${run.coordinator.host}`],
      ]),
    ),
  ];
}

const buttonTexts = {
  pause: 'Pause…',
  unpause: 'Unpause…',
  'set-rate': 'Set rate…',
  'set-priority': 'Set priority…',
  cancel: 'Cancel…',
} as const satisfies Readonly<Record<ControlName, string>>;

/** The buttons of a run in progress. @param onControl undefined when the reader may not control runs */
export function buttonsOf(run: RunData, onControl: OnControl | undefined): Child {
  const isInProgress = run.state === 'running' || run.state === 'paused';
  if (onControl === undefined || !isInProgress) return false;
  const fitting: readonly ControlName[] = [
    run.state === 'running' ? 'pause' : 'unpause',
    'set-rate',
    // Only a shared run has a priority, because other runs share its workers.
    ...(run.isShared ? (['set-priority'] as const) : []),
    'cancel',
  ];
  const buttons = fitting.map((control) =>
    button(buttonTexts[control], () => onControl(run.id, control), {
      id: `${control}-${run.id}`,
      'aria-label': `${buttonTexts[control]} run ${run.id}`,
    }),
  );
  return element('div', { class: 'buttons' }, buttons);
}
