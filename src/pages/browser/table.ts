import { counted, exactDuration } from '../../base/text/format.ts';
import { localTime } from '../../base/text/local-time.ts';
import { shortened } from '../../base/text/printable.ts';
import { outcomeText } from '../../domain/terms.ts';
import { button, element, redraw } from './dom.ts';
import type { Column } from './rows.ts';

/** The height of a table row in pixels, as in the style sheet. */
const rowHeight = 30;
/** Browsers limit the height of an element to about ten million pixels. */
const mostHeight = 8_000_000;
/** Longer texts are cut in the table; the details of the row have more. */
const longestText = 300;
const printedRows = 500;

export interface TableOptions {
  /** Called when a row is opened. */
  readonly onOpen: (row: number) => void;
  /** Called when the reader sorts by a column. */
  readonly onSort: (column: Column) => void;
  /** Aborts when the table is no longer needed. */
  readonly signal: AbortSignal;
}

export interface TableContent {
  readonly columns: readonly Column[];
  /** Rows in display order. */
  readonly selected: Uint32Array;
  readonly sortBy: Column | undefined;
  readonly descending: boolean;
}

/** A virtual table: only visible rows are elements. */
export class RowTable {
  readonly element: HTMLElement;
  readonly #options: TableOptions;
  readonly #body = element('tbody');
  readonly #head = element('tr');
  readonly #tall: HTMLElement;
  readonly #table: HTMLTableElement;
  readonly #widths = element('colgroup');
  readonly #nothing = element('p', { class: 'empty', hidden: true }, 'No row matches.');
  /** Shown on paper only. */
  readonly #cut = element('p', { class: 'note', hidden: true });
  #columns: readonly Column[] = [];
  #selected: Uint32Array = new Uint32Array();
  #first = 0;
  /** The row with the keyboard focus, as an index into the selected rows. */
  #active = 0;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#table = element('table', { class: 'rows' }, this.#widths, element('thead', this.#head), this.#body);
    this.#tall = element('div', this.#table);
    this.element = element(
      'div',
      {
        class: 'scroller',
        role: 'region',
        tabindex: '0',
        'aria-label': 'Rows. Use the arrow keys to move and Enter to open a row.',
        scroll: () => this.#scrolled(),
        keydown: (event) => this.#pressed(event as KeyboardEvent),
      },
      this.#tall,
      this.#nothing,
      this.#cut,
    );
    const resized = new ResizeObserver(() => this.#fit());
    resized.observe(this.element);
    options.signal.addEventListener('abort', () => resized.disconnect());
  }

  /** @param isChanged whether the reader has changed the filter or the order: the table then scrolls to the top */
  show({ columns, selected, sortBy, descending }: TableContent, isChanged: boolean): void {
    const active = this.#selected[this.#active] ?? 0;
    this.#columns = columns;
    this.#selected = selected;
    this.#active = isChanged ? 0 : Math.max(0, selected.indexOf(active));
    const order = descending ? 'descending' : 'ascending';
    redraw(
      this.#head,
      columns.map((column) => this.#header(column, column === sortBy ? order : 'none')),
    );
    this.#widths.replaceChildren(...columns.map(columnWidth));
    this.#nothing.hidden = selected.length > 0;
    this.#table.setAttribute('aria-rowcount', String(selected.length + 1));
    if (isChanged) this.element.scrollTop = 0;
    this.#fit();
  }

  #header(column: Column, order: string): HTMLElement {
    const { kind, name, title } = column;
    const sort = button(title, () => this.#options.onSort(column), { id: `sort ${kind} ${name}` });
    return element('th', { scope: 'col', class: classOf(column), 'aria-sort': order }, sort);
  }

  /** The number of rows that fit on the screen. */
  get #visible(): number {
    const height = this.element.clientHeight - this.#head.offsetHeight;
    return Math.max(1, Math.floor(height / rowHeight));
  }

  get #mostFirst(): number {
    return Math.max(0, this.#selected.length - this.#visible);
  }

  #fit(): void {
    this.#cut.hidden = true;
    const height = this.#head.offsetHeight + this.#selected.length * rowHeight;
    this.#tall.style.height = `${Math.min(height, mostHeight)}px`;
    this.#scrolled();
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const share = scrollHeight > clientHeight ? scrollTop / (scrollHeight - clientHeight) : 0;
    this.#draw(Math.round(share * this.#mostFirst), this.#visible + 1);
  }

  /** Shows the rows for the printer, all at once, until the next `show`. */
  print(selected: Uint32Array): void {
    this.#selected = selected;
    this.#tall.style.height = 'auto';
    this.#widths.replaceChildren();
    this.#draw(0, printedRows);
    const rest = selected.length - printedRows;
    this.#cut.hidden = rest <= 0;
    this.#cut.textContent = `Only the first ${printedRows} rows are printed; ${counted(rest, 'more row')} left out.`;
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
    const row = this.#selected[place] ?? 0;
    return element(
      'tr',
      {
        'aria-rowindex': String(place + 2),
        class: place === this.#active ? 'active' : undefined,
        click: () => {
          this.#active = place;
          this.#options.onOpen(row);
        },
      },
      this.#columns.map((column) => this.#cell(column, row)),
    );
  }

  #cell(column: Column, row: number): HTMLElement {
    const text = shownText(column, row);
    const isOutcome = column.kind === 'fact' && column.name === 'outcome';
    const content = isOutcome ? element('span', { class: `outcome ${column.text(row)}` }, text) : text;
    return element('td', { class: classOf(column) }, content);
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

  /** Opens the previous or the next row, if there is one. */
  move(steps: -1 | 1): void {
    const place = this.#active + steps;
    const row = this.#selected[place];
    if (row === undefined) return;
    this.#goTo(place);
    this.#options.onOpen(row);
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

function classOf({ kind, name, role, isNumber }: Column): string {
  return [kind, kind === 'fact' ? name : role, isNumber && 'number'].filter(Boolean).join(' ');
}

/** Widths in characters of columns whose texts have another form on the page. */
const shownWidths: Readonly<Record<string, number>> = { started: 24, duration: 10 };
/** The width of the icon and the ends of an outcome, in characters. */
const chipWidth = 4;
/** Longer texts are cut with an ellipsis. */
const widestColumn = 56;

/** The width of a column: that of its longest text, so that no column changes its width while the reader scrolls. */
function columnWidth({ kind, name, title, width }: Column): HTMLElement {
  const chip = kind === 'fact' && name === 'outcome' ? chipWidth : 0;
  const text = (kind === 'fact' && shownWidths[name]) || width + chip;
  const made = element('col');
  // The unit `ch` is the width of a digit; capitals are wider.
  made.style.width = `calc(${Math.min(widestColumn, Math.max(text * 1.1, title.length + 2)).toFixed(1)}ch + 20px)`;
  return made;
}

/** The text of a cell. */
export function shownText(column: Column, row: number): string {
  const text = column.text(row);
  if (column.kind === 'fact' && text !== '') {
    if (column.name === 'outcome') return outcomeText(text);
    if (column.name === 'started') return localTime(Number(text));
    if (column.name === 'duration') return exactDuration(Number(text));
  }
  return shortened(text, longestText);
}
