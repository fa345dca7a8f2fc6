import { count, counted, rateText } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText, outcomes, outcomeText, percentOf, usualPriority } from '../../../domain/terms.ts';
import { factList } from '../../../engine/report/html/markup.ts';
import { type ControlName, failingText, type RunData, sentenceOf, stateOf } from '../../server/page-data.ts';
import { type Child, drawn, element, outcomeBar } from '../dom.ts';

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
  return element(
    'article',
    { class: 'run', id: `card-${run.id}` },
    element(
      'div',
      element('h3', runLink(run.id), ' ', stateText(stateOf(run))),
      element('p', { class: 'quiet' }, run.manifest),
    ),
    doing(run),
    element('div', outcomeBar(run.counts, run.rows), element('p', labelOf(run), speed)),
    buttonsOf(run, controls),
  );
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

const buttonTexts = {
  pause: 'Pause…',
  unpause: 'Unpause…',
  'set-rate': 'Set rate…',
  'set-priority': 'Set priority…',
  cancel: 'Cancel…',
} as const satisfies Readonly<Record<ControlName, string>>;

const askedTexts: Partial<Readonly<Record<ControlName, string>>> = {
  pause: 'Pausing',
  unpause: 'Unpausing',
  cancel: 'Cancelling',
};

/** @param controls undefined when the reader may not control runs */
export function buttonsOf(run: RunData, controls: Controls | undefined): Child {
  const isInProgress = run.state === 'running' || run.state === 'paused';
  if (controls === undefined || !isInProgress) return false;
  const fitting: readonly ControlName[] = [
    run.state === 'running' ? 'pause' : 'unpause',
    'set-rate',
    // Only runs that share workers have a priority.
    ...(run.isShared ? (['set-priority'] as const) : []),
    'cancel',
  ];
  const asked = controls.asked(run);
  const buttons = fitting.map((control) => {
    const askedText = control === asked ? askedTexts[control] : undefined;
    const text = askedText ?? buttonTexts[control];
    // Pausing and unpausing have the same button, so that the focus stays on it. Its data says which it is.
    const id = `${control === 'unpause' ? 'pause' : control}-${run.id}`;
    const click = ({ currentTarget }: Event): void => {
      const { control: wanted } = (currentTarget as HTMLElement).dataset;
      controls.ask(run.id, wanted as ControlName);
    };
    return element(
      'button',
      {
        type: 'button',
        id,
        'data-control': control,
        'aria-label': `${text} run ${run.id}`,
        'aria-busy': askedText !== undefined && 'true',
        click,
      },
      text,
    );
  });
  return element('div', { class: 'buttons', id: `buttons-${run.id}` }, buttons);
}
