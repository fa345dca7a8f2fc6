import type { Control, RunData, RunDetails } from '../../dashboard/page-data.ts';
import { count, durationText, element, outcomeText, timeText } from '../dom.ts';

const outcomes = ['succeeded', 'failed', 'invalid', 'duplicate', 'skipped', 'not_attempted'] as const;

/** What the buttons of a run do. */
export type OnControl = (run: RunData, control: Control) => void;

/** `#run=ID`, where the page of a run is. */
export function addressOf(id: string): string {
  return `#run=${encodeURIComponent(id)}`;
}

export function doneOf({ counts }: RunData): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

/** A run that is going: how far it is, how fast, and why not faster. */
export function runCard(run: RunData, onControl: OnControl | undefined): HTMLElement {
  const title = element(
    'h3',
    {},
    element('a', { href: addressOf(run.id), id: `run-${run.id}` }, run.id),
    ' ',
    stateText(run),
  );
  return element('article', { class: 'card' }, title, ...progressOf(run), ...buttonsOf(run, onControl));
}

export function stateText({ state }: Pick<RunData, 'state'>): HTMLElement {
  return element('span', { class: `state ${state}` }, state);
}

/** Bar and figures. */
export function progressOf(run: RunData): readonly HTMLElement[] {
  const done = doneOf(run);
  const percent = Math.floor((done / Math.max(run.rows, 1)) * 100);
  const parts = outcomes
    .filter((outcome) => run.counts[outcome] > 0)
    .map((outcome) => share(outcome, run.counts[outcome]));
  const told = outcomes
    .filter((outcome) => run.counts[outcome] > 0)
    .map((outcome) => `${count(run.counts[outcome])} ${outcomeText(outcome)}`);
  const rest = run.rows - done;
  const figures = [`${count(done)} of ${count(run.rows)} rows (${percent} %)`, ...told];
  const label = figures.join(', ');
  const facts: readonly (readonly [string, string])[] = [
    ['Rate', rateText(run)],
    ['Waiting', waitingText(run)],
    ['Left', run.etaSeconds === undefined ? '' : durationText(run.etaSeconds * 1_000)],
    ['Manifest', run.manifest],
    ['Service', run.baseUrl],
    ['Begun', run.startedAt === undefined ? '' : timeText(run.startedAt)],
    ['Process', run.host === undefined ? '' : `${run.pid} on ${run.host}`],
  ];
  return [
    element(
      'div',
      { class: 'bar', role: 'img', 'aria-label': label },
      ...parts,
      ...(rest > 0 ? [share('rest', rest)] : []),
    ),
    element('p', {}, label),
    factList(facts),
  ];
}

export function factList(facts: readonly (readonly [string, string])[]): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    ...facts
      .filter(([, text]) => text !== '')
      .map(([name, text]) => element('div', {}, element('dt', {}, name), element('dd', {}, text))),
  );
}

function share(name: string, rows: number): HTMLElement {
  const part = element('span', { class: name });
  part.style.flexGrow = String(rows);
  return part;
}

/** `49/s of 51/s allowed, limit 50/s (just under the limit)` */
function rateText({ rowsPerSecond, isAverage, pace, ended, wantedRate }: RunData): string {
  const now =
    rowsPerSecond === undefined ? '' : `${perSecond(rowsPerSecond)}${isAverage ? ' on average' : ''}`;
  if (ended || pace === undefined) return now;
  const allowed =
    pace.allowedPerSecond === null ? 'as fast as can be' : `${perSecond(pace.allowedPerSecond)} allowed`;
  const limit = pace.limitPerSecond === null ? '' : `, limit of the API ${perSecond(pace.limitPerSecond)}`;
  const wanted = wantedRate === 'auto' ? '' : `; wanted ${wantedRate}`;
  return `${now === '' ? '' : `${now}, `}${allowed}${limit} (${pace.reason})${wanted}`;
}

function waitingText({ waiting, waitUntil }: RunData): string {
  if (waiting === undefined) return '';
  return waitUntil === undefined ? waiting : `until ${timeText(waitUntil)}: ${waiting}`;
}

/** `640/s`, `0.5/s` */
export function perSecond(value: number): string {
  return `${Number(value.toPrecision(3))}/s`;
}

const buttonTexts = {
  pause: 'Pause',
  unpause: 'Unpause',
  'set-rate': 'Set rate…',
  cancel: 'Cancel…',
} as const satisfies Readonly<Record<Control, string>>;

/** None for who may not control, nor for a run that is not going. */
export function buttonsOf(run: RunData, onControl: OnControl | undefined): readonly HTMLElement[] {
  const isGoing = run.state === 'running' || run.state === 'paused';
  if (onControl === undefined || !isGoing) return [];
  const fitting = [run.state === 'running' ? 'pause' : 'unpause', 'set-rate', 'cancel'] as const;
  const buttons = fitting.map((control) =>
    element(
      'button',
      {
        type: 'button',
        id: `${control}-${run.id}`,
        'aria-label': `${buttonTexts[control]} run ${run.id}`,
        click: () => onControl(run, control),
      },
      buttonTexts[control],
    ),
  );
  return [element('div', { class: 'buttons' }, ...buttons)];
}

/** What only the page of a run shows. */
export function runDetails(run: RunData, details: RunDetails): readonly HTMLElement[] {
  const { codes, states, unclear, hasReport, rate } = details;
  return [
    ...(hasReport
      ? [
          element(
            'p',
            {},
            element(
              'a',
              { href: `/runs/${encodeURIComponent(run.id)}/report.html`, id: 'report' },
              'Its report',
            ),
            ': every row, with its story.',
          ),
        ]
      : []),
    ...(rate.length > 1 ? [rateChart(rate)] : []),
    element('h2', {}, 'Codes'),
    codes.length === 0
      ? element('p', { class: 'quiet' }, 'No row has a result yet.')
      : table(
          'Codes',
          ['Outcome', 'Code', 'Rows'],
          codes.map(({ outcome, code, count: rows }) => [outcomeText(outcome), code, count(rows)]),
        ),
    ...(unclear > 0
      ? [
          element(
            'p',
            { class: 'note' },
            `${count(unclear)} unclear: the API may have processed an attempt more.`,
          ),
        ]
      : []),
    element('h2', {}, 'What happened'),
    table(
      'What happened',
      ['Time', 'State', 'Why'],
      states.map(({ at, state, reason = '' }) => [timeText(at), state, reason]),
    ),
  ];
}

/** Calls per second over the time at work: achieved, and allowed (dashed). */
function rateChart(points: RunDetails['rate']): HTMLElement {
  const end = points.at(-1)?.t_s ?? 1;
  const allowed = points.filter((point) => point.allowed_per_s !== null);
  const most = Math.max(
    1,
    ...points.map((point) => Math.max(point.accepted_per_s, point.allowed_per_s ?? 0)),
  );
  const refused = points.reduce((sum, point) => sum + point.rejected, 0);
  const at = (seconds: number, value: number): string =>
    `${((seconds / end) * 1_000).toFixed(1)},${(100 - (value / most) * 100).toFixed(1)}`;
  const svg = svgElement('svg', {
    viewBox: '0 -2 1000 104',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': 'Calls per second over time',
  });
  svg.append(
    svgElement('polyline', {
      class: 'allowed',
      points: allowed.map((point) => at(point.t_s, point.allowed_per_s ?? 0)).join(' '),
    }),
    svgElement('polyline', {
      class: 'achieved',
      points: points.map((point) => at(point.t_s, point.accepted_per_s)).join(' '),
    }),
  );
  const summary =
    `Solid: accepted by the API, at most ${perSecond(Math.max(...points.map((point) => point.accepted_per_s)))}; dashed: allowed. ` +
    `The upper edge is ${perSecond(most)}, the width ${durationText(end * 1_000)} of work. ${count(refused)} refused as too many.`;
  return element(
    'figure',
    {},
    element('figcaption', {}, element('h2', {}, 'Calls per second'), element('p', {}, summary)),
    element('div', { class: 'chart' }, svg),
  );
}

function svgElement(name: 'svg' | 'polyline', attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Cells are text, or elements. */
export function table(
  label: string,
  head: readonly string[],
  rows: readonly (readonly (string | HTMLElement)[])[],
): HTMLElement {
  return element(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': label },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)))),
      element(
        'tbody',
        {},
        ...rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell)))),
      ),
    ),
  );
}
