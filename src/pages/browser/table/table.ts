import { counted } from '../../../base/text/format.ts';
import type { Column } from '../column.ts';
import { button, element, redraw } from '../dom.ts';
import { columnWidth, isLong, tableWidth, widestOf } from './column-widths.ts';
import { ScrollArea } from './scroll-area.ts';
import { headCell, rowCell, wholeText } from './table-cell.ts';

const printedRows = 500;
/** A letter is about as wide as this share of its height. */
const letterWidth = 0.55;

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
  /** What the reader searches for: it is marked. */
  readonly hits?: RegExp | undefined;
}

/** A virtual table of rows: only visible rows are elements. */
export class RowTable {
  readonly element: HTMLElement;
  readonly #area: ScrollArea;
  readonly #options: TableOptions;
  readonly #body = element('tbody', { click: (event) => this.#clicked(event) });
  readonly #head = element('tr');
  readonly #table: HTMLTableElement;
  readonly #widths = element('colgroup');
  readonly #wholeText = element('p', { class: 'whole', hidden: true });
  readonly #emptyNote = element('p', { class: 'empty', hidden: true }, 'No row matches.');
  /** The note that rows were left out. It is on paper only. */
  readonly #cutNote = element('p', { class: 'note', hidden: true });
  #columns: readonly Column[] = [];
  #selected: Uint32Array = new Uint32Array();
  #sort: Pick<TableContent, 'sortBy' | 'isDescending'> = { sortBy: undefined, isDescending: false };
  #look: Parameters<typeof rowCell>[2] = { isPrinting: false, hits: undefined, longInSight: 0 };
  /** The row with the keyboard focus: an index of `#selected`, or -1. */
  #activeLine = 0;

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
    const changed = { scroll: () => this.#drawVisible(), resize: () => this.#fit() };
    this.#area = new ScrollArea(this.#table, this.#emptyNote, changed, options.signal);
    this.element = element('div', this.#area.element, this.#wholeText, this.#cutNote);
  }

  /** Shows rows. @param isChanged whether the reader has changed the filter or the order, and so begins at the top */
  show({ columns, selected, hits, ...sort }: TableContent, isChanged: boolean): void {
    const line = selected.indexOf(this.#selected[this.#activeLine] ?? -1);
    const stays = line >= 0 ? line : Math.min(this.#activeLine, selected.length - 1);
    this.#sort = sort;
    this.#look = { ...this.#look, isPrinting: false, hits };
    this.#selected = selected;
    this.#activeLine = isChanged ? 0 : stays;
    this.#drawHead(columns);
    // The long column, or else the last one, takes the room that is left.
    const wide = columns.find(isLong) ?? columns.at(-1);
    const cols = columns.map((column) => {
      const col = element('col');
      if (column !== wide) col.style.width = columnWidth(column);
      return col;
    });
    this.#widths.replaceChildren(...cols);
    // The width is set because browsers would make columns as wide as the texts that are on the screen.
    this.#table.style.setProperty('--rows-width', tableWidth(columns));
    // The subject stays in sight beside the number of the row.
    this.#table.style.setProperty('--row-width', columns[0] === undefined ? '0px' : columnWidth(columns[0]));
    this.#emptyNote.hidden = selected.length > 0;
    this.#table.setAttribute('aria-rowcount', String(selected.length + 1));
    if (isChanged) this.#area.first = 0;
    this.#fit();
  }

  focus(): void {
    this.#table.focus();
  }

  #drawHead(columns: readonly Column[]): void {
    this.#columns = columns;
    const { sortBy, isDescending } = this.#sort;
    const order = isDescending ? 'descending' : 'ascending';
    const heads = columns.map((column) => {
      const sort = button(column.title, () => this.#options.onSort(column), { id: `sort ${column.id}` });
      return headCell(column, column === sortBy ? order : 'none', sort);
    });
    redraw(this.#head, heads);
  }

  #fit(): void {
    this.#cutNote.hidden = true;
    const style = getComputedStyle(this.#table);
    const rowHeight = Number.parseInt(style.getPropertyValue('--row-height'), 10);
    this.#area.fit(this.#selected.length, rowHeight, this.#head.offsetHeight);
    const { clientWidth = 0 } = this.#head.children[this.#columns.findIndex(isLong)] ?? {};
    const longInSight = clientWidth / (letterWidth * Number.parseFloat(style.fontSize));
    this.#look = { ...this.#look, longInSight };
    this.#drawVisible();
  }

  #drawVisible(): void {
    this.#draw(this.#area.first, this.#area.rowsInSight + 1);
  }

  /** Shows rows for the printer, all at once, until the next `show`. */
  print(columns: readonly Column[], selected: Uint32Array): void {
    this.#look = { ...this.#look, isPrinting: true };
    this.#drawHead(columns);
    this.#selected = selected;
    this.#emptyNote.hidden = true;
    this.#area.fitContent();
    this.#widths.replaceChildren();
    this.#draw(0, printedRows);
    const rest = selected.length - printedRows;
    this.#cutNote.hidden = rest <= 0;
    this.#cutNote.textContent = `Only the first ${printedRows} rows are printed; ${counted(rest, 'more row')} left out.`;
  }

  #draw(first: number, length: number): void {
    const shown = this.#selected.subarray(first, first + length);
    const lines = Array.from(shown, (_, index) => first + index);
    redraw(
      this.#body,
      lines.map((line) => this.#row(line)),
    );
    if (lines.includes(this.#activeLine))
      this.#table.setAttribute('aria-activedescendant', lineId(this.#activeLine));
    else this.#table.removeAttribute('aria-activedescendant');
    this.#showWhole();
  }

  /** Shows a cut text of the active row below the table, for readers without a pointer. */
  #showWhole(): void {
    const long = this.#columns.find(isLong);
    const row = this.#selected[this.#activeLine];
    const text = row === undefined ? '' : (long?.shown(row) ?? '');
    this.#wholeText.hidden =
      long === undefined || text.length < widestOf(long) || document.activeElement !== this.#table;
    this.#wholeText.textContent = wholeText(text);
  }

  #row(line: number): HTMLElement {
    const row = this.#selected[line] ?? 0;
    const isActive = line === this.#activeLine;
    const properties = {
      id: lineId(line),
      'aria-rowindex': String(line + 2),
      'aria-selected': String(isActive),
      class: isActive && 'active',
    };
    const cells = this.#columns.map((column) => rowCell(column, row, this.#look));
    return element('tr', properties, cells);
  }

  #clicked({ target }: Event): void {
    const tableRow = target instanceof Element ? target.closest('tr') : null;
    const row = this.#selected[Number(tableRow?.getAttribute('aria-rowindex')) - 2];
    // A click that ends a selection of text does not open the row.
    if (row !== undefined && getSelection()?.type !== 'Range') this.open(row);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.target !== this.#table || this.#selected.length === 0) return;
    const last = this.#selected.length - 1;
    const page = this.#area.rowsInSight - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.#activeLine + 1,
      ArrowUp: this.#activeLine - 1,
      PageDown: this.#activeLine + page,
      PageUp: this.#activeLine - page,
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
    return this.#selected[this.#lineAfter(steps)] !== undefined;
  }

  /** Opens the row at this distance from the active one. */
  move(steps: -1 | 0 | 1): void {
    const row = this.#selected[this.#lineAfter(steps)];
    if (row !== undefined) this.open(row);
  }

  #lineAfter(steps: -1 | 0 | 1): number {
    const { storyOf = (row) => row } = this.#options;
    const storyAt = (line: number) => storyOf(this.#selected[line] ?? -1);
    let line = this.#activeLine + steps;
    while (steps !== 0 && this.#selected[line] !== undefined && storyAt(line) === storyAt(this.#activeLine))
      line += steps;
    return line;
  }

  /** Opens a row. After a row that is not in the table, the next one is the first of the table. */
  open(row: number): void {
    this.#goTo(this.#selected.indexOf(row));
    this.#options.onOpen(row);
  }

  #goTo(line: number): void {
    this.#activeLine = line;
    this.#area.first = Math.min(Math.max(this.#area.first, line - this.#area.rowsInSight + 1), line);
    this.#drawVisible();
  }
}

function lineId(line: number): string {
  return `line-${line}`;
}
