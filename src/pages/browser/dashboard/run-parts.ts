import { count, counted, rateText } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText, outcomes, outcomeText, percentOf, usualPriority } from '../../../domain/terms.ts';
import { factList } from '../../../engine/report/html/markup.ts';
import {
  type ControlName,
  controlNames,
  failingText,
  type RunData,
  sentenceOf,
  stateOf,
} from '../../server/page-data.ts';
import { button, type Child, drawn, element, outcomeBar } from '../dom.ts';

export interface Controls {
  ask(runId: string, control: ControlName): void;
  /** What the reader has asked for, until the state of the run changes. */
  asked(run: RunData): ControlName | undefined;
}

export function runLink(id: string): HTMLElement {
  return element('a', { href: `#run=${id}`, id: `run-${id}` }, id);
}

export function stateText({ kind, text }: ReturnType<typeof stateOf>): HTMLElement {
  return element('span', { class: `state ${kind}` }, text);
}

export function runRow(run: RunData, controls: Controls | undefined): HTMLElement {
  const { state, throughput, lastSeenAt } = run;
  const isCalled = state === 'running' && lastSeenAt === undefined;
  const speed = isCalled && throughput ? `, ${rateText(throughput.rowsPerSecond, 'rows')}` : '';
  const title = element('h3', runLink(run.id), ' ', stateText(stateOf(run)));
  const what = element('div', title, element('p', { class: 'quiet' }, run.manifest));
  const progress = element('div', outcomeBar(run.counts, run.rows), element('p', labelOf(run), speed));
  const parts = [what, doing(run), progress, buttonsOf(run, controls)];
  return element('article', { class: 'run', id: `card-${run.id}` }, parts);
}

/** @param isReported whether the page has the head of the report */
export function progressElements(run: RunData, isReported: boolean): Child {
  const { throughput, pace, ended, wantedRate, priority, waiting, lastSeenAt } = run;
  const isKnown = lastSeenAt === undefined;
  const isAverage = throughput?.of === 'average';
  // The head of the report has the average, the manifest, the API and the start.
  const speed =
    isKnown && throughput && !(isAverage && isReported) ? rateText(throughput.rowsPerSecond, 'rows') : '';
  const isCalled = isKnown && !ended && pace !== undefined;
  return [
    !ended && doing(run),
    outcomeBar(run.counts, run.rows),
    // The ledger of the report of an ended run has the counts.
    (!ended || !isReported) && [
      element('p', labelOf(run)),
      drawn(
        factList([
          [isAverage ? 'Average rate' : 'Rate now', ended ? '' : speed],
          ['Allowed', isCalled ? (pace.rate === undefined ? 'unlimited' : rateText(pace.rate, 'calls')) : ''],
          ['API limit', isCalled && pace.limit !== undefined ? rateText(pace.limit, 'calls') : ''],
          ['Requested rate', ended ? '' : wantedRate],
          ['Priority', ended || priority === usualPriority ? '' : priority],
          ['Why this rate', isCalled && waiting === undefined ? pace.reason : ''],
          ['Waiting for a retry', run.held === undefined ? '' : counted(run.held, 'row')],
          ['Manifest', isReported ? '' : run.manifest],
          ['API', isReported ? '' : apiText(run)],
          ['Started', isReported || run.startedAt === undefined ? '' : localTime(run.startedAt)],
          ['Process', run.coordinator && `${run.coordinator.pid} on ${run.coordinator.host}`],
        ]),
      ),
    ],
  ];
}

/** What a run does, and whether it fails: first why no row is called, because a small screen cuts the end. */
function doing(run: RunData): HTMLElement {
  const failing = failingText(run);
  const parts = [failing !== undefined && element('b', { class: 'lost' }, failing), ' ', sentenceOf(run)];
  const isCalled = run.state === 'running' && run.waiting === undefined;
  return element('p', { class: 'doing' }, isCalled ? parts : parts.toReversed());
}

/** `88 of 9,000 rows (1 %), 86 succeeded, 2 failed` */
function labelOf({ rows, done, counts }: RunData): string {
  const countTexts = outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${count(counts[outcome])} ${outcomeText(outcome)}`);
  return [`${count(done)} of ${count(rows)} rows (${percentOf(done, rows)} %)`, ...countTexts].join(', ');
}

/** The text of each button, and of one that the run has not obeyed yet. */
const buttonTexts: Readonly<Record<ControlName, readonly [usual: string, asked?: string]>> = {
  pause: ['Pause…', 'Pausing'],
  unpause: ['Unpause…', 'Unpausing'],
  'set-rate': ['Set rate…'],
  'set-priority': ['Set priority…'],
  cancel: ['Cancel…', 'Cancelling'],
};

/** @param controls undefined when the reader may not control runs */
export function buttonsOf(run: RunData, controls: Controls | undefined): Child {
  const { id, state, isShared } = run;
  if (controls === undefined || (state !== 'running' && state !== 'paused')) return false;
  const unfit: ControlName[] = [state === 'running' ? 'unpause' : 'pause'];
  // Only runs that share workers have a priority.
  if (!isShared) unfit.push('set-priority');
  const asked = controls.asked(run);
  const fitting = controlNames.filter((control) => !unfit.includes(control));
  const buttons = fitting.map((control) => {
    const [usual, pending] = buttonTexts[control];
    const isBusy = control === asked && pending !== undefined;
    const text = isBusy ? pending : usual;
    const click = ({ currentTarget }: Event): void => {
      const { control: wanted } = (currentTarget as HTMLElement).dataset;
      controls.ask(id, wanted as ControlName);
    };
    return button(text, click, {
      // Pausing and unpausing have the same button, so that the focus stays on it. Its data says which it is.
      id: `${control === 'unpause' ? 'pause' : control}-${id}`,
      'data-control': control,
      'aria-label': `${text} run ${id}`,
      'aria-busy': isBusy && 'true',
    });
  });
  return element('div', { class: 'buttons', id: `buttons-${id}` }, buttons);
}
