import { type Attempt, unclearText } from '../domain.ts';
import type { PageData } from '../report/html/page-data.ts';
import { localTime } from '../text/local-time.ts';
import { counted, exactDuration } from '../text/quantities.ts';
import { button, type Child, element, numberCell, outcomeText, redraw, tableElement } from './dom.ts';
import type { Column, Rows } from './rows.ts';

/** Longer texts are cut; report.csv has the full text. */
const longestText = 20_000;

/** Meaning and remedy, by code. */
type Advice = PageData['advice'];

/** A dialog with the details of a row. */
export class StoryDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'story-title' });
  #number = 0;

  show(rows: Rows, row: number, advice: Advice): void {
    this.#number = rows.number('row', row) ?? 0;
    this.#draw(rows, row, advice);
    this.element.showModal();
  }

  /** Shows newer data of the row while the dialog is open. */
  update(rows: Rows, advice: Advice): void {
    const row = this.element.open ? rows.placeOf(this.#number) : -1;
    if (row >= 0) this.#draw(rows, row, advice);
  }

  #draw(rows: Rows, row: number, advice: Advice): void {
    const close = button('Close', () => this.element.close(), { id: 'story-close' });
    redraw(
      this.element,
      element('header', element('h2', { id: 'story-title' }, `Row ${this.#number}`), close),
      storyOf(rows, row, advice[rows.fact('code').text(row)]),
    );
  }
}

function storyOf(rows: Rows, row: number, advice: Advice[string] | undefined): Child {
  const fact = (name: Parameters<Rows['fact']>[0]): string => rows.fact(name).text(row);
  const of = (wanted: Column['kind']): readonly Fact[] =>
    rows.columns.filter(({ kind }) => kind === wanted).map((column) => [column.title, column.text(row)]);
  const duplicateOf = fact('duplicateOf');
  const end: readonly Fact[] = [
    ['Outcome', outcomeText(fact('outcome'))],
    ['Code', fact('code')],
    ['Message', fact('message')],
    ['Meaning', advice?.meaning ?? ''],
    ['What to do', fact('outcome') === 'succeeded' ? '' : (advice?.remedy ?? '')],
    ['Unclear', fact('unclear') === '' ? '' : unclearText(fact('outcome'))],
    ['Operation', fact('operation')],
    ['Duplicate of', duplicateOf === '' ? '' : `row ${duplicateOf}`],
    ...of('result'),
  ];
  const attempts = attemptsOf(rows, row);
  const called = attempts.length > 0;
  return [
    facts(end.filter(([, text]) => text !== '')),
    element('h3', 'Manifest'),
    facts(of('cell')),
    element('h3', called ? counted(Number(fact('attempts')), 'attempt') : 'Not called'),
    called &&
      tableElement('Attempts', ['Started', 'Duration', 'HTTP', 'Result'], attempts.flatMap(attemptCells)),
  ];
}

type Fact = readonly [name: string, text: string];

function facts(pairs: readonly Fact[]): HTMLElement {
  const cut = (text: string) => (text.length > longestText ? `${text.slice(0, longestText)}… (cut)` : text);
  return element(
    'dl',
    pairs.map(([name, text]) => [element('dt', name), element('dd', cut(text))]),
  );
}

/** All known attempts, the last one included. */
function attemptsOf(rows: Rows, row: number): readonly Attempt[] {
  const text = rows.fact('earlier').text(row);
  const earlier = text === '' ? [] : (JSON.parse(text) as readonly Attempt[]);
  const started = rows.number('started', row);
  const late = rows.number('late', row);
  if (started === undefined || late === undefined) return earlier;
  const status = rows.number('status', row);
  return [
    ...earlier,
    {
      at: new Date(earlier.length === 0 ? started : started + late).toISOString(),
      durationMs: rows.number('duration', row) ?? 0,
      code: rows.fact('code').text(row),
      message: rows.fact('message').text(row),
      ...(status !== undefined && { httpStatus: status }),
    },
  ];
}

/** The table rows of an attempt. */
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
