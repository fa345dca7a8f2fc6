import { durationText, element, outcomeText, timeText } from './dom.ts';
import type { Column, Rows } from './rows.ts';

/** Of a row of the table, as the style sheet has it, in pixels. */
const rowHeight = 30;
/** Browsers make no element higher than some ten million pixels. */
const mostHeight = 8_000_000;
/** Longer texts are cut in the table; the story of the row has more of them. */
const longestText = 300;
/** Rows that are printed. */
const printedRows = 500;

export interface TableOptions {
  readonly rows: Rows;
  readonly columns: readonly Column[];
  /** Called when a row is opened. */
  readonly onOpen: (row: number) => void;
  /** Called when the reader wants another order. */
  readonly onSort: (column: Column) => void;
}

/** A table of which only those rows are elements that can be seen. */
export class RowTable {
  readonly element: HTMLElement;
  readonly #options: TableOptions;
  readonly #body = element('tbody');
  readonly #head = element('tr');
  readonly #tall: HTMLElement;
  readonly #table: HTMLTableElement;
  #selected: Uint32Array = new Uint32Array();
  #first = 0;
  /** The row that the keyboard is on, as a place among the selected. */
  #active = 0;

  constructor(options: TableOptions) {
    this.#options = options;
    for (const column of options.columns) this.#head.append(this.#header(column));
    this.#table = element('table', { class: 'rows' }, element('thead', {}, this.#head), this.#body);
    this.#tall = element('div', {}, this.#table);
    this.element = element(
      'div',
      {
        class: 'scroller',
        role: 'region',
        tabindex: '0',
        'aria-label': 'Rows. Arrow keys move, Enter tells the story of a row.',
        scroll: () => this.#scrolled(),
        keydown: (event) => this.#pressed(event as KeyboardEvent),
      },
      this.#tall,
    );
    new ResizeObserver(() => this.#fit()).observe(this.element);
    addEventListener('beforeprint', () => {
      this.#tall.style.height = 'auto';
      this.#draw(0, printedRows);
    });
    addEventListener('afterprint', () => this.#fit());
  }

  /** Shows these rows, in this order. */
  show(selected: Uint32Array, sortBy: Column | undefined, descending: boolean): void {
    this.#selected = selected;
    this.#active = 0;
    for (const [index, cell] of [...this.#head.children].entries()) {
      const isSorted = this.#options.columns[index] === sortBy;
      cell.setAttribute('aria-sort', isSorted ? (descending ? 'descending' : 'ascending') : 'none');
    }
    this.#table.setAttribute('aria-rowcount', String(selected.length + 1));
    this.element.scrollTop = 0;
    this.#fit();
  }

  #header(column: Column): HTMLElement {
    const button = element(
      'button',
      { type: 'button', click: () => this.#options.onSort(column) },
      column.title,
    );
    return element('th', { scope: 'col', class: column.isNumber ? 'number' : undefined }, button);
  }

  /** How many rows can be seen at a time. */
  get #visible(): number {
    const height = this.element.clientHeight - this.#head.offsetHeight;
    return Math.max(1, Math.floor(height / rowHeight));
  }

  get #mostFirst(): number {
    return Math.max(0, this.#selected.length - this.#visible);
  }

  #fit(): void {
    const height = this.#head.offsetHeight + this.#selected.length * rowHeight;
    this.#tall.style.height = `${Math.min(height, mostHeight)}px`;
    this.#scrolled();
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const share = scrollHeight > clientHeight ? scrollTop / (scrollHeight - clientHeight) : 0;
    this.#draw(Math.round(share * this.#mostFirst), this.#visible + 1);
  }

  #draw(first: number, length: number): void {
    this.#first = first;
    const places = Array.from(
      { length: Math.min(length, this.#selected.length - first) },
      (_, index) => first + index,
    );
    this.#body.replaceChildren(...places.map((place) => this.#row(place)));
  }

  #row(place: number): HTMLElement {
    const { columns, onOpen } = this.#options;
    const row = this.#selected[place] ?? 0;
    const cells = columns.map((column) => this.#cell(column, row));
    return element(
      'tr',
      {
        'aria-rowindex': String(place + 2),
        class: place === this.#active ? 'active' : undefined,
        click: () => {
          this.#active = place;
          onOpen(row);
        },
      },
      ...cells,
    );
  }

  #cell(column: Column, row: number): HTMLElement {
    const text = shownText(column, row);
    const isOutcome = column.kind === 'fact' && column.name === 'outcome';
    const content = isOutcome ? element('span', { class: `outcome ${column.text(row)}` }, text) : text;
    return element('td', { class: column.isNumber ? 'number' : undefined }, content);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.target !== this.element) return;
    const last = this.#selected.length - 1;
    const page = this.#visible - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: last,
    };
    const wanted = moves[event.key];
    if (wanted !== undefined) this.#goTo(Math.min(Math.max(0, wanted), last));
    else if (event.key === 'Enter') this.#options.onOpen(this.#selected[this.#active] ?? 0);
    else return;
    event.preventDefault();
  }

  #goTo(place: number): void {
    this.#active = place;
    const lastSeen = this.#first + this.#visible - 1;
    const first = place < this.#first ? place : place > lastSeen ? place - this.#visible + 1 : this.#first;
    const { scrollHeight, clientHeight } = this.element;
    const most = this.#mostFirst;
    if (most > 0) this.element.scrollTop = (first / most) * (scrollHeight - clientHeight);
    this.#draw(first, this.#visible + 1);
  }
}

/** What stands in a cell. */
export function shownText(column: Column, row: number): string {
  const text = column.text(row);
  if (column.kind === 'fact' && text !== '') {
    if (column.name === 'outcome') return outcomeText(text);
    if (column.name === 'started') return timeText(Number(text));
    if (column.name === 'duration') return durationText(Number(text));
  }
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
