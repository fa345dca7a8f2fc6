import { counted, exactDuration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import { type Attempt, outcomeText, requestsOf, unclearText } from '../../domain/terms.ts';
import type { PageData } from '../../engine/report/html/page-data.ts';
import { button, type Child, element, numberCell, redraw, tableElement } from './dom.ts';
import type { Column, Rows } from './rows.ts';

/** Longer texts are cut; report.csv has the full text. */
const longestText = 20_000;

/** The advice by code. */
type Advice = PageData['advice'];

/** A dialog with the details of a row. */
export class RowDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'story-title' });
  readonly #move: (steps: -1 | 1) => void;
  #number = 0;

  /** @param move opens the previous or the next row of the table */
  constructor(move: (steps: -1 | 1) => void) {
    this.#move = move;
  }

  show(rows: Rows, row: number, advice: Advice): void {
    this.#number = rows.number('row', row) ?? 0;
    this.#draw(rows, row, advice);
    this.element.scrollTop = 0;
    if (!this.element.open) this.element.showModal();
  }

  /** Shows newer data of the row while the dialog is open. */
  update(rows: Rows, advice: Advice): void {
    const row = this.element.open ? rows.placeOf(this.#number) : -1;
    if (row >= 0) this.#draw(rows, row, advice);
  }

  #draw(rows: Rows, row: number, advice: Advice): void {
    const buttons = element(
      'div',
      { class: 'buttons' },
      button('Previous', () => this.#move(-1), { id: 'story-previous' }),
      button('Next', () => this.#move(1), { id: 'story-next' }),
      button('Close', () => this.element.close(), { id: 'story-close' }),
    );
    redraw(
      this.element,
      element('header', element('h2', { id: 'story-title' }, `Row ${this.#number}`), buttons),
      storyOf(rows, row, advice[rows.fact('code').text(row)]),
    );
  }
}

function storyOf(rows: Rows, row: number, advice: Advice[string] | undefined): Child {
  const fact = (name: Parameters<Rows['fact']>[0]): string => rows.fact(name).text(row);
  const of = (wanted: Column['kind']): readonly Fact[] =>
    rows.columns.filter(({ kind }) => kind === wanted).map((column) => [column.title, column.text(row)]);
  const [outcome, duplicateOf] = [fact('outcome'), fact('duplicateOf')];
  const end: readonly Fact[] = [
    ['Outcome', element('span', { class: `outcome ${outcome}` }, outcomeText(outcome))],
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
  return [
    facts(end.filter(([, text]) => text !== '')),
    element('h3', made > 0 || attempts.length > 0 ? counted(made, 'attempt') : 'Not called'),
    untold > 0 && element('p', `${counted(untold, 'attempt')} without details`),
    attempts.length > 1 && timeline(attempts),
    attempts.length > 0 &&
      tableElement('Attempts', ['Started', 'Duration', 'HTTP', 'Result'], attempts.flatMap(attemptCells)),
    fact('request') !== '' && [element('h3', 'Request'), element('pre', cut(fact('request')))],
    element('h3', 'Manifest'),
    facts(of('cell').filter(([, text]) => text !== '')),
  ];
}

type Fact = readonly [name: string, value: string | HTMLElement];

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}… (cut)` : text;
}

function facts(pairs: readonly Fact[]): HTMLElement {
  return element(
    'dl',
    pairs.map(([name, value]) => [
      element('dt', name),
      element('dd', typeof value === 'string' ? cut(value) : value),
    ]),
  );
}

/** All known attempts of a row, including the last one. */
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

/** Attempts as bars on a time axis; a successful last one has the color of success. The table gives the same facts as text. */
function timeline(attempts: readonly Attempt[]): HTMLElement | undefined {
  const timed = attempts.flatMap(({ at, durationMs = 0, code }) =>
    at === undefined ? [] : [{ from: Date.parse(at), to: Date.parse(at) + durationMs, code }],
  );
  const [first] = timed;
  if (first === undefined) return undefined;
  const end = Math.max(...timed.map(({ to }) => to));
  const length = Math.max(1, end - first.from);
  const bars = timed.map(({ from, to, code }) => {
    const bar = element('span', {
      class: code === 'OK' || code === 'ALREADY_APPLIED' ? 'succeeded' : 'failed',
    });
    bar.style.left = `${(100 * (from - first.from)) / length}%`;
    bar.style.width = `${(100 * (to - from)) / length}%`;
    return bar;
  });
  return element(
    'div',
    { class: 'timeline', 'aria-hidden': 'true' },
    element('div', { class: 'track' }, bars),
    element('span', '0 s'),
    element('span', exactDuration(length)),
  );
}

/** The table rows of an attempt, with one for omitted attempts before it. */
function attemptCells({ at, durationMs, code, message, httpStatus, omitted }: Attempt): readonly Child[][] {
  const line = [
    at === undefined ? '' : localTime(at),
    numberCell(durationMs === undefined ? '' : exactDuration(durationMs)),
    numberCell(httpStatus === undefined ? '' : String(httpStatus)),
    code === undefined ? 'unknown result' : [code, message].filter(Boolean).join(': '),
  ];
  if (omitted === undefined) return [line];
  return [[element('td', { colspan: '4' }, `${counted(omitted, 'more attempt')}, not kept`)], line];
}
