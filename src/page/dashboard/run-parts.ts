import { type ControlName, type RunData, stateOf } from '../../dashboard/page-data.ts';
import { outcomes, percentOf, totalOf } from '../../domain.ts';
import { localTime } from '../../text/local-time.ts';
import { count, exactDuration, perSecond } from '../../text/quantities.ts';
import { button, type Child, element, factList, outcomeBar, outcomeText } from '../dom.ts';

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

/** The bar of outcomes, and the facts of a run. */
export function progressElements(run: RunData): Child {
  const { rows, done, counts } = run;
  const told = outcomes
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${count(counts[outcome])} ${outcomeText(outcome)}`);
  const label = [`${count(done)} of ${count(rows)} rows (${percentOf(done, rows)} %)`, ...told].join(', ');
  return [
    outcomeBar(counts, rows - totalOf(counts), label),
    element('p', label),
    factList([
      ['Rate', rateText(run)],
      ['Waiting', waitingText(run)],
      ['Time left', run.etaSeconds === undefined ? '' : exactDuration(run.etaSeconds * 1_000)],
      ['Manifest', run.manifest],
      ['API', run.baseUrl],
      ['Started', run.startedAt === undefined ? '' : localTime(run.startedAt)],
      ['Process', run.coordinator && `${run.coordinator.pid} on ${run.coordinator.host}`],
    ]),
  ];
}

/** `49/s, 51/s allowed, API limit 50/s (just under the limit); 60/s requested` */
function rateText({ throughput, pace, ended, wantedRate }: RunData): string {
  const average = throughput?.of === 'average' ? ' on average' : '';
  const now = throughput === undefined ? '' : `${perSecond(throughput.rowsPerSecond)}${average}`;
  if (ended || pace === undefined) return now;
  const allowed = pace.rate === undefined ? 'unlimited' : `${perSecond(pace.rate)} allowed`;
  const limit = pace.limit === undefined ? '' : `, API limit ${perSecond(pace.limit)}`;
  const requested = wantedRate === 'auto' ? '' : `; ${wantedRate} requested`;
  return `${now === '' ? '' : `${now}, `}${allowed}${limit} (${pace.reason})${requested}`;
}

function waitingText({ waiting, waitUntil }: RunData): string {
  if (waiting === undefined) return '';
  return waitUntil === undefined ? waiting : `until ${localTime(waitUntil)}: ${waiting}`;
}

const buttonTexts = {
  pause: 'Pause',
  unpause: 'Unpause',
  'set-rate': 'Set rate…',
  cancel: 'Cancel…',
} as const satisfies Readonly<Record<ControlName, string>>;

/** The buttons of a run in progress. @param onControl undefined when the reader may not control runs */
export function buttonsOf(run: RunData, onControl: OnControl | undefined): Child {
  const isInProgress = run.state === 'running' || run.state === 'paused';
  if (onControl === undefined || !isInProgress) return false;
  const fitting = [run.state === 'running' ? 'pause' : 'unpause', 'set-rate', 'cancel'] as const;
  const buttons = fitting.map((control) =>
    button(buttonTexts[control], () => onControl(run.id, control), {
      id: `${control}-${run.id}`,
      'aria-label': `${buttonTexts[control]} run ${run.id}`,
    }),
  );
  return element('div', { class: 'buttons' }, buttons);
}
