import { counted, exactDuration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import { shortened } from '../../base/text/printable.ts';
import { requestsOf } from '../../domain/attempts.ts';
import type { Attempt } from '../../domain/row-result.ts';
import { unclearText } from '../../domain/terms.ts';
import type { FactColumn } from '../../engine/report/html/packed-rows.ts';
import type { PageAdvice, PageData } from '../../engine/report/html/page-data.ts';
import { button, type Child, element, numberCell, redraw, tableElement } from './dom.ts';
import type { Column, Rows } from './rows.ts';
import type { RowTable } from './table.ts';

/** Longer texts are cut; report.csv has the full text. */
const longestText = 20_000;
/** Longer values scroll by themselves. */
const scrolledText = 1_000;
/** Longer names of columns, and the subject in the title, are cut. */
const longestName = 200;
const longestSubject = 80;

type Report = Pick<PageData, 'advice' | 'operations'>;

/** A dialog with the details of a row. */
export class RowDialog {
  readonly element: HTMLDialogElement;
  readonly #table: Pick<RowTable, 'canMove' | 'move'>;
  #number = 0;

  constructor(table: Pick<RowTable, 'canMove' | 'move'>, onClose: () => void) {
    this.#table = table;
    this.element = element('dialog', {
      'aria-labelledby': 'story-title',
      close: onClose,
      keydown: (event) => this.#pressed(event as KeyboardEvent),
    });
  }

  show(rows: Rows, row: number, report: Report): void {
    this.#number = rows.number('row', row) ?? 0;
    this.#draw(rows, row, report);
    this.element.scrollTop = 0;
    if (!this.element.open) this.element.showModal();
  }

  /** Shows newer data of the row. */
  update(rows: Rows, report: Report): void {
    const row = this.element.open ? rows.placeOf(this.#number) : -1;
    if (row >= 0) this.#draw(rows, row, report);
  }

  #draw(rows: Rows, row: number, { advice, operations }: Report): void {
    // A button that is `disabled` would lose the focus.
    const step = (text: string, steps: -1 | 1) =>
      button(text, () => this.#table.move(steps), {
        id: `story-${text}`,
        'aria-disabled': !this.#table.canMove(steps) && 'true',
        autofocus: steps === 1,
      });
    const close = button('Close', () => this.element.close(), { id: 'story-close' });
    const buttons = element('div', { class: 'buttons' }, step('Previous', -1), step('Next', 1), close);
    redraw(
      this.element,
      element('header', element('h2', { id: 'story-title' }, titleOf(rows, row, operations)), buttons),
      storyOf(rows, row, advice[rows.fact('code').text(row)]),
    );
  }

  #pressed({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent): void {
    const isScrolling = target instanceof Element && target.matches('[tabindex]');
    if (isScrolling || altKey || ctrlKey || metaKey) return;
    if (key === 'ArrowLeft') this.#table.move(-1);
    if (key === 'ArrowRight') this.#table.move(1);
  }
}

/** `Row 120 · evaluation 120 · failed · unclear` */
function titleOf(rows: Rows, row: number, operations: Report['operations']): readonly Child[] {
  const subject = rows.columns.find(({ role, text }) => role === 'subject' && text(row) !== '');
  const outcome = rows.fact('outcome');
  const thing = operations[rows.fact('operation').text(row)]?.thing;
  const chip = (name: string, text: string) => element('span', { class: `outcome ${name}` }, text);
  return [
    `Row ${rows.fact('row').text(row)} · `,
    subject && `${shortened(`${thing ?? subject.title} ${subject.text(row)}`, longestSubject)} · `,
    chip(outcome.text(row), outcome.shown(row)),
    rows.fact('unclear').text(row) !== '' && [' · ', chip('unclear', 'unclear')],
  ];
}

function storyOf(rows: Rows, row: number, advice: PageAdvice | undefined): Child {
  const fact = (name: FactColumn): string => rows.fact(name).text(row);
  const of = (wanted: Column['kind']): readonly Fact[] =>
    rows.columns.filter(({ kind }) => kind === wanted).map((column) => [column.title, column.text(row)]);
  const [outcome, duplicateOf] = [fact('outcome'), fact('duplicateOf')];
  const end: readonly Fact[] = [
    ['Code', fact('code')],
    ['Message', fact('message')],
    ['Meaning', advice?.meaning ?? ''],
    ['What to do', outcome === 'succeeded' ? '' : (advice?.remedy ?? '')],
    ['Unclear', fact('unclear') === '' ? '' : unclearText(outcome)],
    ['Operation', fact('operation')],
    ['Request id', fact('requestId')],
    ['Duplicate of', duplicateOf === '' ? '' : `row ${duplicateOf}`],
    ...of('result'),
  ];
  const attempts = attemptsOf(rows, row);
  const made = Number(fact('attempts'));
  const untold = made - requestsOf(attempts);
  const subjects = rows.columns.filter(({ role }) => role === 'subject').map(({ title }) => title);
  const calls = made > 0 || attempts.length > 0 ? counted(made, 'attempt') : 'Not called';
  const first = localTime(startOf(attempts), 3);
  return [
    facts(end, ['Message', 'Request id']),
    element('h3', [calls, first].filter(Boolean).join(' from ')),
    untold > 0 && element('p', `${counted(untold, 'attempt')} without details`),
    attempts.length > 1 && timeline(attempts),
    attempts.length > 0 && attemptTable(attempts, fact('message')),
    fact('request') !== '' && [
      element('h3', 'Request ', copyButton('request', fact('request'))),
      element('pre', { tabindex: '0', 'aria-label': 'Request' }, cut(fact('request'))),
    ],
    element('h3', 'Manifest'),
    facts(of('cell'), subjects),
  ];
}

/** The text is an attribute, because `redraw` may keep the button of another row. */
function copyButton(what: string, text: string): HTMLElement {
  const properties = { type: 'button', class: 'copy', 'data-copy': text, id: `copy ${what}` };
  return element('button', properties, 'Copy', element('span', { class: 'spoken' }, ` ${what}`));
}

type Fact = readonly [name: string, value: string];

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}… (cut)` : text;
}

/** @param copied names of values that a reader looks up elsewhere */
function facts(pairs: readonly Fact[], copied: readonly string[]): HTMLElement {
  const shown = pairs.filter(([, value]) => value !== '');
  const lines = shown.map(([name, value]) => {
    const scrolled = { tabindex: '0', role: 'group', 'aria-label': shortened(name, longestSubject) };
    return [
      element('dt', shortened(name, longestName), copied.includes(name) && [' ', copyButton(name, value)]),
      element('dd', value.length > scrolledText ? scrolled : {}, cut(value)),
    ];
  });
  return element('dl', ...lines);
}

function attemptsOf(rows: Rows, row: number): readonly Attempt[] {
  const text = rows.fact('earlier').text(row);
  const earlier = text === '' ? [] : (JSON.parse(text) as readonly Attempt[]);
  const started = rows.number('started', row);
  const durationMs = rows.number('duration', row);
  if (started === undefined || durationMs === undefined) return earlier;
  const status = rows.number('status', row);
  return [
    ...earlier,
    {
      at: new Date(rows.number('lastStarted', row) ?? started).toISOString(),
      durationMs,
      code: rows.fact('code').text(row),
      message: rows.fact('message').text(row),
      ...(status !== undefined && { httpStatus: status }),
    },
  ];
}

/** The first known time, ISO 8601 UTC; otherwise empty. */
function startOf(attempts: readonly Attempt[]): string {
  return attempts.find(({ at }) => at !== undefined)?.at ?? '';
}

/** Attempts as bars on a time axis. The table gives the same facts as text. */
function timeline(attempts: readonly Attempt[]): HTMLElement | undefined {
  const first = Date.parse(startOf(attempts));
  const timed = attempts.flatMap(({ at, durationMs = 0, code }) =>
    at === undefined ? [] : [{ after: Date.parse(at) - first, durationMs, code }],
  );
  if (timed.length === 0) return undefined;
  const length = Math.max(1, ...timed.map(({ after, durationMs }) => after + durationMs));
  const bars = timed.map(({ after, durationMs, code }) => {
    const isGood = code === 'OK' || code === 'ALREADY_APPLIED';
    const bar = element('span', { class: isGood ? 'succeeded' : 'failed' });
    bar.style.left = `${(100 * after) / length}%`;
    bar.style.width = `${(100 * durationMs) / length}%`;
    return bar;
  });
  return element(
    'div',
    { class: 'timeline', 'aria-hidden': 'true' },
    element('div', { class: 'track' }, bars),
    element('span', '+0.0 s'),
    element('span', `+${exactDuration(length)}`),
  );
}

/** @param told the message of the row, which is not repeated */
function attemptTable(attempts: readonly Attempt[], told: string): HTMLElement {
  const first = Date.parse(startOf(attempts));
  const lines = attempts.flatMap(({ at, durationMs, code, message, httpStatus, omitted }) => {
    const line = [
      at === undefined ? '' : `+${((Date.parse(at) - first) / 1_000).toFixed(1)} s`,
      numberCell(durationMs === undefined ? '' : exactDuration(durationMs)),
      numberCell(String(httpStatus ?? '')),
      code === undefined ? 'unknown result' : [code, message !== told && message].filter(Boolean).join(': '),
    ];
    if (omitted === undefined) return [line];
    return [[element('td', { colspan: '4' }, `${counted(omitted, 'more attempt')}, not kept`)], line];
  });
  return tableElement('Attempts', ['Started', 'Duration', 'HTTP', 'Result'], lines);
}
