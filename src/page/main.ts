import type { PageData } from '../report/html/page-data.ts';
import { chartsOf } from './charts.ts';
import { refeedCsv } from './csv.ts';
import { count, counted, download, durationText, element, outcomeText, timeText } from './dom.ts';
import { type Column, Rows } from './rows.ts';
import { StoryDialog } from './story.ts';
import { RowTable } from './table.ts';

const outcomes = ['succeeded', 'failed', 'invalid', 'duplicate', 'skipped', 'not_attempted'] as const;

function contentOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

/** What the reader has chosen, and what follows from it. */
class Page {
  readonly #data: PageData;
  readonly #outcomes = new Set<string>();
  #code = '';
  #operation = '';
  #query = '';
  #sortBy: Column | undefined;
  #descending = false;
  #rows: Rows | undefined;
  #table: RowTable | undefined;
  #selected: Uint32Array = new Uint32Array();
  readonly #story = new StoryDialog();
  readonly #found = element('p', { 'aria-live': 'polite', class: 'found' });
  readonly #place = element('section', { 'aria-label': 'Rows' });

  constructor(data: PageData) {
    this.#data = data;
  }

  async show(): Promise<void> {
    const { rows } = this.#data;
    const main = document.getElementById('page');
    main?.append(
      this.#header(),
      this.#bar(),
      this.#codes(),
      ...this.#charts(),
      this.#place,
      this.#story.element,
    );
    if (rows.selection !== 'all') this.#place.append(element('p', { class: 'note' }, leftOut(this.#data)));
    if (rows.selection !== 'none') {
      this.#rows = await Rows.read(rows, contentOf);
      this.#place.append(...this.#tools(this.#rows), this.#tableOf(this.#rows));
      this.#select();
    }
    main?.setAttribute('aria-busy', 'false');
  }

  #header(): HTMLElement {
    const { run, summary } = this.#data;
    const facts: readonly (readonly [string, string])[] = [
      ['Manifest', summary.manifest.name],
      ['Service', run.baseUrl],
      ['Begun', summary.started_at === null ? '' : timeText(summary.started_at)],
      ['Ended', summary.finished_at === null ? '' : timeText(summary.finished_at)],
      ['At work', durationText(summary.duration_s * 1_000)],
      ['By', run.by ?? ''],
      ['Why', run.purpose ?? ''],
      ['Retries', summary.retries.join(', ')],
      ['Retry of', summary.retry_of ?? ''],
      ['Written', timeText(run.writtenAt)],
    ];
    return element(
      'header',
      {},
      element('h1', {}, `Run ${run.id} `, element('span', { class: `state ${run.state}` }, run.state)),
      ...(run.reason === undefined ? [] : [element('p', { class: 'note' }, run.reason)]),
      element(
        'dl',
        { class: 'facts' },
        ...facts
          .filter(([, text]) => text !== '')
          .map(([name, text]) => element('div', {}, element('dt', {}, name), element('dd', {}, text))),
      ),
    );
  }

  /** The shares of the outcomes; each is a button that keeps only its rows. */
  #bar(): HTMLElement {
    const { summary } = this.#data;
    const occurring = outcomes.filter((outcome) => summary.outcomes[outcome] > 0);
    const parts = occurring.map((outcome) => {
      const part = element('span', { class: outcome });
      part.style.flexGrow = String(summary.outcomes[outcome]);
      return part;
    });
    const buttons = occurring.map((outcome) => {
      const button = element(
        'button',
        { type: 'button', 'aria-pressed': 'false', class: `outcome ${outcome}` },
        `${count(summary.outcomes[outcome])} ${outcomeText(outcome)}`,
      );
      button.addEventListener('click', () => {
        const isWanted = !this.#outcomes.has(outcome);
        if (isWanted) this.#outcomes.add(outcome);
        else this.#outcomes.delete(outcome);
        button.setAttribute('aria-pressed', String(isWanted));
        this.#select();
      });
      return button;
    });
    return element(
      'section',
      { 'aria-label': 'Outcomes' },
      element('h2', {}, counted(summary.manifest.rows, 'row')),
      element('div', { class: 'bar', 'aria-hidden': 'true' }, ...parts),
      element('div', { class: 'buttons', role: 'group', 'aria-label': 'Show only' }, ...buttons),
    );
  }

  #codes(): HTMLElement {
    const { summary, advice } = this.#data;
    // What needs a look comes first.
    const needsLook = ['failed', 'invalid', 'not_attempted'];
    const troubled = summary.codes.filter(({ outcome }) => needsLook.includes(outcome));
    const list = [...troubled, ...summary.codes.filter(({ outcome }) => !needsLook.includes(outcome))].map(
      ({ outcome, code, count: rows, message, row }) => {
        const { meaning = '', remedy } = advice[code] ?? {};
        const button = element(
          'button',
          { type: 'button', click: () => this.#showCode(code) },
          `${code} `,
          element('span', {}, counted(rows, 'row')),
        );
        return element(
          'li',
          {},
          element(
            'h3',
            {},
            element('span', { class: `outcome ${outcome}` }, outcomeText(outcome)),
            ' ',
            button,
          ),
          element(
            'p',
            {},
            meaning,
            ...(remedy === undefined || outcome === 'succeeded' ? [] : [` ${remedy}`]),
          ),
          ...(message === '' ? [] : [element('p', { class: 'quiet' }, `Row ${row}: ${message}`)]),
        );
      },
    );
    return element(
      'section',
      { 'aria-label': 'Codes' },
      element('h2', {}, 'Why'),
      element('ul', { class: 'codes' }, ...list),
    );
  }

  #charts(): readonly HTMLElement[] {
    const charts = chartsOf(this.#data);
    if (charts.length === 0) return [];
    return [element('section', { 'aria-label': 'Over time', class: 'charts' }, ...charts)];
  }

  /** What chooses rows, and hands them on. */
  #tools(rows: Rows): readonly HTMLElement[] {
    const { summary } = this.#data;
    const search = element('input', {
      type: 'search',
      placeholder: 'Search in all columns',
      'aria-label': 'Search in all columns',
      input: debounced(() => {
        this.#query = search.value.trim();
        this.#select();
      }),
    });
    const codes = [...new Set(summary.codes.map(({ code }) => code))];
    const code = chooser('All codes', codes, (chosen) => {
      this.#code = chosen;
      this.#select();
    });
    code.id = 'code';
    const operations = summary.operations.map(({ operation }) => operation).filter((name) => name !== '');
    const operation = chooser('All operations', operations, (chosen) => {
      this.#operation = chosen;
      this.#select();
    });
    const save = element(
      'button',
      {
        type: 'button',
        class: 'main',
        click: () => download(`${this.#data.run.id}-rows.csv`, refeedCsv(rows, this.#selected)),
      },
      'Save these rows as CSV',
    );
    return [
      element('h2', {}, 'Rows'),
      element('div', { class: 'tools' }, search, code, ...(operations.length > 1 ? [operation] : []), save),
      this.#found,
    ];
  }

  #tableOf(rows: Rows): HTMLElement {
    const { summary } = this.#data;
    const shown = ['row', 'outcome', 'code', 'message'];
    const more = ['unclear', 'attempts', 'status', 'duration', 'started'];
    const facts = (names: readonly string[]): readonly Column[] =>
      rows.columns.filter(({ kind, name }) => kind === 'fact' && names.includes(name));
    const hasUnclear = summary.unclear > 0;
    this.#table = new RowTable({
      rows,
      columns: [
        ...facts(shown),
        ...rows.columns.filter(({ kind }) => kind === 'cell'),
        ...rows.columns.filter(({ kind }) => kind === 'result'),
        ...facts(more.filter((name) => name !== 'unclear' || hasUnclear)),
      ],
      onOpen: (row) => this.#story.show(rows, row, this.#data.advice[rows.fact('code').text(row)]),
      onSort: (column) => {
        this.#descending = this.#sortBy === column && !this.#descending;
        this.#sortBy = column;
        this.#select();
      },
    });
    return this.#table.element;
  }

  #showCode(code: string): void {
    this.#code = code;
    const chooser = document.getElementById('code');
    if (chooser instanceof HTMLSelectElement) chooser.value = code;
    this.#select();
    this.#place.scrollIntoView({ behavior: 'smooth' });
  }

  #select(): void {
    const rows = this.#rows;
    if (rows === undefined) return;
    this.#selected = rows.select({
      query: this.#query,
      outcomes: this.#outcomes,
      code: this.#code,
      operation: this.#operation,
      sortBy: this.#sortBy,
      descending: this.#descending,
    });
    const all = rows.count;
    const found = this.#selected.length;
    this.#found.textContent =
      found === all ? `All ${counted(all, 'row')}` : `${count(found)} of ${counted(all, 'row')}`;
    this.#table?.show(this.#selected, this.#sortBy, this.#descending);
  }
}

function leftOut({ rows, summary }: PageData): string {
  const total = count(summary.manifest.rows);
  return rows.selection === 'none'
    ? `The ${total} rows would make this page too large to be sent: they are in report.csv.`
    : `All ${total} rows would make this page too large to be sent. Here are the ${count(rows.count)} that did not succeed or are unclear; all are in report.csv.`;
}

function chooser(
  all: string,
  choices: readonly string[],
  onChoice: (choice: string) => void,
): HTMLSelectElement {
  const select = element(
    'select',
    { 'aria-label': all },
    element('option', { value: '' }, all),
    ...choices.map((choice) => element('option', { value: choice }, choice)),
  );
  select.addEventListener('change', () => onChoice(select.value));
  return select;
}

/** While somebody types, only what is there at last is looked for. */
function debounced(action: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, 150);
  };
}

await new Page(JSON.parse(contentOf('data')) as PageData).show();
