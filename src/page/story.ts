import { type Attempt, unclearText } from '../domain.ts';
import type { PageData } from '../report/html/page-data.ts';
import { localTime } from '../text/local-time.ts';
import { counted, exactDuration } from '../text/quantities.ts';
import { element, outcomeText, redraw } from './dom.ts';
import type { Rows } from './rows.ts';

/** Longer texts are cut: who needs them whole has report.csv. */
const longestText = 20_000;

/** What codes mean, by code. */
type Advice = PageData['advice'];

/** The story of a row, in a window above the page. */
export class StoryDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'story-title' });
  #number = 0;

  show(rows: Rows, row: number, advice: Advice): void {
    this.#number = rows.number('row', row) ?? 0;
    this.#draw(rows, row, advice);
    this.element.showModal();
  }

  /** Tells how the row stands in newer rows, where its story is shown. */
  update(rows: Rows, advice: Advice): void {
    const row = this.element.open ? rows.placeOf(this.#number) : -1;
    if (row >= 0) this.#draw(rows, row, advice);
  }

  #draw(rows: Rows, row: number, advice: Advice): void {
    const close = element(
      'button',
      { type: 'button', id: 'story-close', click: () => this.element.close() },
      'Close',
    );
    redraw(
      this.element,
      element('header', {}, element('h2', { id: 'story-title' }, `Row ${this.#number}`), close),
      ...storyOf(rows, row, advice[rows.fact('code').text(row)]),
    );
  }
}

function storyOf(
  rows: Rows,
  row: number,
  advice: PageData['advice'][string] | undefined,
): readonly HTMLElement[] {
  const fact = (name: Parameters<Rows['fact']>[0]): string => rows.fact(name).text(row);
  const duplicateOf = fact('duplicateOf');
  const end: readonly (readonly [string, string])[] = [
    ['Outcome', outcomeText(fact('outcome'))],
    ['Code', fact('code')],
    ['Message', fact('message')],
    ['What it means', advice?.meaning ?? ''],
    ['What to do', fact('outcome') === 'succeeded' ? '' : (advice?.remedy ?? '')],
    ['Unclear', fact('unclear') === '' ? '' : unclearText(fact('outcome'))],
    ['Operation', fact('operation')],
    ['Called instead', duplicateOf === '' ? '' : `row ${duplicateOf}`],
  ];
  const told = rows.columns
    .filter(({ kind }) => kind === 'result')
    .map((column) => [column.title, column.text(row)] as const);
  const cells = rows.columns
    .filter(({ kind }) => kind === 'cell')
    .map((column) => [column.title, column.text(row)] as const);
  const attempts = attemptsOf(rows, row);
  return [
    facts([...end, ...told].filter(([, text]) => text !== '')),
    element('h3', {}, 'In the manifest'),
    facts(cells),
    element(
      'h3',
      {},
      attempts.length === 0 ? 'It was not called' : counted(Number(fact('attempts')), 'attempt'),
    ),
    ...(attempts.length === 0 ? [] : [attemptTable(attempts)]),
  ];
}

function facts(pairs: readonly (readonly [name: string, text: string])[]): HTMLElement {
  return element(
    'dl',
    {},
    ...pairs.flatMap(([name, text]) => [
      element('dt', {}, name),
      element('dd', {}, text.length > longestText ? `${text.slice(0, longestText)}… (cut)` : text),
    ]),
  );
}

/** Those before the last one, and the last one. */
function attemptsOf(rows: Rows, row: number): readonly Attempt[] {
  const text = rows.fact('earlier').text(row);
  const earlier = text === '' ? [] : (JSON.parse(text) as readonly Attempt[]);
  const started = rows.number('started', row);
  const late = rows.number('late', row);
  const duration = rows.number('duration', row) ?? 0;
  if (started === undefined || late === undefined) return earlier;
  const status = rows.number('status', row);
  return [
    ...earlier,
    {
      at: new Date(earlier.length === 0 ? started : started + late).toISOString(),
      durationMs: duration,
      code: rows.fact('code').text(row),
      message: rows.fact('message').text(row),
      ...(status !== undefined && { httpStatus: status }),
    },
  ];
}

function attemptTable(attempts: readonly Attempt[]): HTMLElement {
  const head = ['Began', 'Took', 'HTTP', 'What came of it'].map((text) =>
    element('th', { scope: 'col' }, text),
  );
  const lines = attempts.flatMap(({ at, durationMs, code, message, httpStatus, omitted }) => [
    ...(omitted === undefined
      ? []
      : [
          element('tr', {}, element('td', { colspan: '4' }, `${counted(omitted, 'more attempt')}, not kept`)),
        ]),
    element(
      'tr',
      {},
      element('td', {}, at === undefined ? '' : localTime(at)),
      element('td', { class: 'number' }, durationMs === undefined ? '' : exactDuration(durationMs)),
      element('td', { class: 'number' }, httpStatus === undefined ? '' : String(httpStatus)),
      element(
        'td',
        {},
        code === undefined ? 'nothing is known of it' : [code, message].filter(Boolean).join(': '),
      ),
    ),
  ]);
  return element(
    'div',
    { class: 'wide' },
    element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...lines)),
  );
}
