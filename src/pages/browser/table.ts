import { counted } from '../../base/text/format.ts';
import { inReadingOrder, shortened } from '../../base/text/printable.ts';
import type { Column } from './column.ts';
import { button, drawnMarkup, element, redraw } from './dom.ts';

/** The longest text in the table. Longer texts are cut; the details of the row have more. */
const longestText = 300;
const longestTitle = 1_000;
const printedRows = 500;
/** The longest texts on paper. Longer ones lose their middle: identifiers often differ by their ends only. */
const longestPrinted = { long: 160, others: 80 };

interface TableOptions {
  readonly onOpen: (row: number) => void;
  readonly onSort: (column: Column) => void;
  /** The details that a row has: rows with the same ones are one step. Default: each row has its own. */
  readonly storyOf?: (row: number) => number;
  readonly signal: AbortSignal;
}

interface TableContent {
  readonly columns: readonly Column[];
  readonly selected: Uint32Array;
  readonly sortBy: Column | undefined;
  readonly isDescending: boolean;
}

/** A virtual table of rows: only visible rows are elements. */
export class RowTable {
  readonly element: HTMLElement;
  readonly #scroller: HTMLElement;
  readonly #options: TableOptions;
  readonly #body = element('tbody', { click: (event) => this.#clicked(event) });
  readonly #head = element('tr');
  readonly #spacer: HTMLElement;
  readonly #table: HTMLTableElement;
  readonly #widths = element('colgroup');
  readonly #wholeText = element('p', { class: 'whole', hidden: true });
  readonly #emptyNote = element('p', { class: 'empty', hidden: true }, 'No row matches.');
  /** The note that rows were left out. It is on paper only. */
  readonly #cutNote = element('p', { class: 'note', hidden: true });
  #columns: readonly Column[] = [];
  #selected: Uint32Array = new Uint32Array();
  #isPrinting = false;
  /** The row with the keyboard focus: an index of `#selected`, or -1. */
  #activePlace = 0;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#table = element(
      'table',
      {
        class: 'rows',
        role: 'grid',
        tabindex: '0',
        'aria-label': 'Rows. Use the arrow keys to move and Enter to open a row.',
        keydown: (event) => this.#pressed(event as KeyboardEvent),
        focus: () => this.#showWhole(),
        blur: () => this.#showWhole(),
      },
      this.#widths,
      element('thead', this.#head),
      this.#body,
    );
    this.#spacer = element('div', this.#table);
    const scroll = (): void => this.#drawVisible();
    this.#scroller = element('div', { class: 'scroller', scroll }, this.#spacer, this.#emptyNote);
    this.element = element('div', this.#scroller, this.#wholeText, this.#cutNote);
    const resized = new ResizeObserver(() => this.#fit());
    resized.observe(this.#scroller);
    options.signal.addEventListener('abort', () => resized.disconnect());
  }

  /** Shows rows. @param isChanged whether the reader has changed the filter or the order, and so begins at the top */
  show({ columns, selected, sortBy, isDescending }: TableContent, isChanged: boolean): void {
    const place = selected.indexOf(this.#selected[this.#activePlace] ?? -1);
    const stays = place >= 0 ? place : Math.min(this.#activePlace, selected.length - 1);
    this.#isPrinting = false;
    this.#columns = columns;
    this.#selected = selected;
    this.#activePlace = isChanged ? 0 : stays;
    const order = isDescending ? 'descending' : 'ascending';
    const heads = columns.map((column) => {
      const sort = button(column.title, () => this.#options.onSort(column), { id: `sort ${column.id}` });
      const sorted = column === sortBy ? order : 'none';
      const title = tooltipOf(column, column.title);
      return element('th', { class: classOf(column), 'aria-sort': sorted, title }, sort);
    });
    redraw(this.#head, heads);
    const widths = columns.map(widthOf);
    // The long column, or else the last one, takes the room that is left.
    const wide = columns.find(isLong) ?? columns.at(-1);
    const cols = columns.map((column, place) => {
      const col = element('col');
      if (column !== wide) col.style.width = widths[place] ?? '';
      return col;
    });
    this.#widths.replaceChildren(...cols);
    // The width is set because browsers would make columns as wide as the texts that are on the screen.
    this.#table.style.setProperty('--rows-width', `calc(${widths.join(' + ')})`);
    // The subject stays in sight beside the number of the row.
    this.#table.style.setProperty('--row-width', widths[0] ?? '0px');
    this.#emptyNote.hidden = selected.length > 0;
    this.#table.setAttribute('aria-rowcount', String(selected.length + 1));
    if (isChanged) this.#scroller.scrollTop = 0;
    this.#fit();
  }

  /** The height of a row in pixels, by the style sheet. All rows together are lower than the ten million pixels that browsers allow. */
  get #rowHeight(): number {
    return Number.parseInt(getComputedStyle(this.#table).getPropertyValue('--row-height'), 10);
  }

  /** The first row on the screen: an index of `#selected`. */
  get #firstVisible(): number {
    // The position may be rounded by the browser.
    return Math.ceil(this.#scroller.scrollTop / this.#rowHeight - 0.1);
  }

  /** How many rows are whole on the screen. */
  get #visibleRows(): number {
    const height = this.#scroller.clientHeight - this.#head.offsetHeight;
    return Math.max(1, Math.floor(height / this.#rowHeight));
  }

  #fit(): void {
    this.#cutNote.hidden = true;
    this.#spacer.style.height = `${this.#head.offsetHeight + this.#selected.length * this.#rowHeight}px`;
    this.#drawVisible();
  }

  #drawVisible(): void {
    this.#draw(this.#firstVisible, this.#visibleRows + 1);
  }

  /** Shows the rows for the printer, all at once, until the next `show`. */
  print(selected: Uint32Array): void {
    this.#isPrinting = true;
    this.#selected = selected;
    this.#emptyNote.hidden = true;
    this.#spacer.style.height = 'auto';
    this.#widths.replaceChildren();
    this.#draw(0, printedRows);
    const rest = selected.length - printedRows;
    this.#cutNote.hidden = rest <= 0;
    this.#cutNote.textContent = `Only the first ${printedRows} rows are printed; ${counted(rest, 'more row')} left out.`;
  }

  #draw(first: number, length: number): void {
    const shown = this.#selected.subarray(first, first + length);
    const places = Array.from(shown, (_, index) => first + index);
    redraw(
      this.#body,
      places.map((place) => this.#row(place)),
    );
    if (places.includes(this.#activePlace))
      this.#table.setAttribute('aria-activedescendant', lineId(this.#activePlace));
    else this.#table.removeAttribute('aria-activedescendant');
    this.#showWhole();
  }

  /** Shows a cut text of the active row below the table, for readers without a pointer. */
  #showWhole(): void {
    const long = this.#columns.find(isLong);
    const row = this.#selected[this.#activePlace];
    const text = row === undefined ? '' : (long?.shown(row) ?? '');
    this.#wholeText.hidden = text.length < widestTexts.long || document.activeElement !== this.#table;
    this.#wholeText.textContent = shortened(text, longestTitle);
  }

  #row(place: number): HTMLElement {
    const row = this.#selected[place] ?? 0;
    const isActive = place === this.#activePlace;
    const properties = {
      id: lineId(place),
      'aria-rowindex': String(place + 2),
      'aria-selected': String(isActive),
      class: isActive && 'active',
    };
    const cells = this.#columns.map((column) => this.#cell(column, row));
    return element('tr', properties, cells);
  }

  #cell(column: Column, row: number): HTMLElement {
    const text = column.shown(row);
    const cut = this.#isPrinting ? printedText(text, column) : shortened(text, longestText);
    const shown = isChip(column) ? element('span', { class: `outcome ${column.text(row)}` }, cut) : cut;
    const content = column.drawn === undefined ? shown : drawnMarkup(column.drawn(row));
    return element('td', { class: classOf(column), title: tooltipOf(column, text) }, content);
  }

  #clicked({ target }: Event): void {
    const line = target instanceof Element ? target.closest('tr') : null;
    const row = this.#selected[Number(line?.getAttribute('aria-rowindex')) - 2];
    // A click that ends a selection of text does not open the row.
    if (row !== undefined && getSelection()?.type !== 'Range') this.open(row);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.target !== this.#table || this.#selected.length === 0) return;
    const last = this.#selected.length - 1;
    const page = this.#visibleRows - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.#activePlace + 1,
      ArrowUp: this.#activePlace - 1,
      PageDown: this.#activePlace + page,
      PageUp: this.#activePlace - page,
      Home: 0,
      End: last,
    };
    const wanted = moves[event.key];
    if (wanted !== undefined) this.#goTo(Math.min(Math.max(0, wanted), last));
    else if (event.key === 'Enter') this.move(0);
    else return;
    event.preventDefault();
  }

  canMove(steps: -1 | 1): boolean {
    return this.#selected[this.#placeAfter(steps)] !== undefined;
  }

  /** Opens the row at this distance from the active one. */
  move(steps: -1 | 0 | 1): void {
    const row = this.#selected[this.#placeAfter(steps)];
    if (row !== undefined) this.open(row);
  }

  #placeAfter(steps: -1 | 0 | 1): number {
    const { storyOf = (row) => row } = this.#options;
    const storyAt = (place: number) => storyOf(this.#selected[place] ?? -1);
    let place = this.#activePlace + steps;
    while (
      steps !== 0 &&
      this.#selected[place] !== undefined &&
      storyAt(place) === storyAt(this.#activePlace)
    )
      place += steps;
    return place;
  }

  /** Opens a row. After a row that is not in the table, the next one is the first of the table. */
  open(row: number): void {
    this.#goTo(this.#selected.indexOf(row));
    this.#options.onOpen(row);
  }

  #goTo(place: number): void {
    this.#activePlace = place;
    const first = Math.min(Math.max(this.#firstVisible, place - this.#visibleRows + 1), place);
    if (first !== this.#firstVisible) this.#scroller.scrollTop = first * this.#rowHeight;
    this.#drawVisible();
  }
}

function classOf({ kind, name, role, isNumber }: Column): string {
  return [kind, kind === 'fact' ? name : role, isNumber && name !== 'started' && 'number']
    .filter(Boolean)
    .join(' ');
}

function lineId(place: number): string {
  return `line-${place}`;
}

/** The width of a chip's icon and ends, in characters. */
const chipWidth = 4;
/** The widest columns, in characters. Longer texts are cut, so that they push no other column off the screen. */
const widestTexts = { long: 36, subject: 24, others: 28 };

function printedText(text: string, column: Column): string {
  const half = (isLong(column) ? longestPrinted.long : longestPrinted.others) / 2;
  return text.length > 2 * half ? `${text.slice(0, half)}…${text.slice(-half)}` : text;
}

const isLong = ({ look }: Column): boolean => look === 'long';
const isChip = ({ look }: Column): boolean => look === 'chip';

function widestOf(column: Column): number {
  if (isLong(column)) return widestTexts.long;
  return column.role === 'subject' ? widestTexts.subject : widestTexts.others;
}

/** The whole text of a cell that may be cut: letters can be twice as wide as digits. */
function tooltipOf(column: Column, text: string): string | undefined {
  return text.length < widestOf(column) / 2 ? undefined : inReadingOrder(shortened(text, longestTitle));
}

/** The width of a column's longest text, so that no column changes its width while the reader scrolls. */
function widthOf(column: Column): string {
  const text = column.width + (isChip(column) ? chipWidth : 0);
  // The unit `ch` is the width of a digit; capitals are wider.
  return `calc(${Math.min(widestOf(column), Math.max(text * 1.1, column.title.length + 2)).toFixed(1)}ch + 20px)`;
}
