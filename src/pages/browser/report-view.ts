import { count, counted } from '../../base/text/format.ts';
import { shortened } from '../../base/text/printable.ts';
import type { PageData } from '../../engine/report/html/page-data.ts';
import { reportSummary } from '../../engine/report/html/report-head.ts';
import {
  countOf,
  groupText,
  isInGroup,
  type RowGroup,
  rowGroups,
} from '../../engine/report/html/row-groups.ts';
import { rowsInNeed } from '../../engine/report/html/verdict.ts';
import { readAddress, wantedByAddress, writeAddress } from './address.ts';
import { Charts } from './chart/charts.ts';
import type { Column } from './column.ts';
import {
  button,
  copyClicked,
  debounced,
  download,
  drawnMarkup,
  element,
  redraw,
  searchField,
} from './dom.ts';
import { isNarrowScreen, onNarrowScreen } from './narrow-screen.ts';
import { cardColumns, tableColumns } from './result-columns.ts';
import { resultStory } from './result-story.ts';
import { RowDialog } from './row-dialog.ts';
import type { Rows, Selection } from './rows.ts';
import { RowsSection } from './rows-section.ts';
import { refeedCsv, shownCsv } from './saved-rows.ts';
import { ColumnChooser } from './table/column-chooser.ts';
import { hitPattern } from './table/search-hits.ts';
import { RowTable } from './table/table.ts';

/** What the reader wants to see. `sort` is the `id` of a column, after `-` in descending order. */
const nothingWanted = { show: '', code: '', message: '', operation: '', q: '', sort: '' };

type Wanted = Readonly<typeof nothingWanted>;

/** All of a report below its head. What the reader has chosen stays when newer data is shown. */
export class ReportView {
  readonly element: HTMLElement;
  #data: PageData;
  #rows: Rows;
  #columns: readonly Column[] = [];
  #wanted: Wanted = nothingWanted;
  #selected: Uint32Array = new Uint32Array();
  readonly #summary = element('div');
  readonly #charts: Charts;
  readonly #section = new RowsSection(() => this.#table.focus());
  readonly #leftOut = element('p', { class: 'note' });
  readonly #search = searchField(
    'find-row',
    'Search all columns',
    debounced(() => this.#changeWanted({}, false)),
  );
  readonly #group = choiceField('Show', (show) => this.#changeWanted({ show }));
  readonly #code = choiceField('All codes', (code) => this.#changeWanted({ code, message: '' }));
  readonly #operation = choiceField('All operations', (operation) => this.#changeWanted({ operation }));
  readonly #chooser = new ColumnChooser(() => this.#select(false));
  readonly #found = element('span', { 'aria-live': 'polite', class: 'found quiet' });
  readonly #message = element('span', { class: 'quiet' });
  readonly #clear = button('Clear filters', () => this.#clearFilters(), { id: 'clear-filters' });
  readonly #saves = [
    button('Save as shown', () => this.#save('shown')),
    button('Save as manifest', () => this.#save('rows')),
  ];
  readonly #table: RowTable;
  readonly #story: RowDialog;
  /** The number of the row in the dialog. */
  #openedRow = 0;

  /** @param signal aborts the listeners */
  constructor(data: PageData, rows: Rows, signal: AbortSignal) {
    this.#data = data;
    this.#rows = rows;
    this.#charts = new Charts(signal);
    this.#table = new RowTable({
      signal,
      onOpen: (row) => this.#open(row),
      onSort: ({ id }) => this.#changeWanted({ sort: this.#wanted.sort === id ? `-${id}` : id }),
    });
    this.#story = new RowDialog(this.#table, () => writeAddress({ row: '' }, true));
    addEventListener('popstate', () => this.followAddress(), { signal });
    addEventListener('beforeprint', () => this.#print(), { signal });
    addEventListener('afterprint', () => this.#select(true), { signal });
    onNarrowScreen(() => this.#select(false), signal);
    this.#summary.addEventListener('click', (event) => this.#clicked(event));
    const choosers = [this.#search, this.#group, this.#code, this.#operation, this.#chooser.element];
    const tools = element('div', { class: 'tools' }, choosers, this.#saves);
    const { element: section, skipLink, backButton } = this.#section;
    const state = element('p', { class: 'filters' }, this.#found, this.#message, this.#clear, backButton);
    section.append(this.#leftOut, tools, state, this.#table.element);
    const parts = [skipLink, this.#summary, this.#charts.element, section, this.#story.element];
    this.element = element('div', parts);
    this.element.addEventListener('click', (event) => void copyClicked(event));
    this.#draw();
  }

  show(data: PageData, rows: Rows): void {
    this.#data = data;
    this.#rows = rows;
    this.#draw();
    const open = this.#story.element.open ? rows.indexOf(this.#openedRow) : -1;
    if (open >= 0) this.#story.draw(resultStory(rows, open, data));
    this.#select(false);
  }

  /** Draws the parts on which the reader's choices have no effect. */
  #draw(): void {
    const { manifest } = this.#data.summary;
    redraw(this.#summary, drawnMarkup(reportSummary(this.#data)));
    this.#charts.show(this.#data);
    this.#leftOut.hidden = this.#rows.count === manifest.rows;
    this.#leftOut.textContent = leftOutText(this.#rows.count, manifest.rows);
    this.#columns = tableColumns(this.#rows, this.#data);
    const isShort = ['message', 'unclear'].every((name) =>
      this.#columns.every(({ id }) => id !== `fact ${name}`),
    );
    this.#table.element.classList.toggle('short', isShort);
    this.#chooser.offer(this.#columns);
  }

  /** Shows what the address says, by default the rows that failed or are invalid, if there are any. The view must be on the page. */
  followAddress(): void {
    const show = rowsInNeed(this.#data.summary.outcomes) > 0 ? 'attention' : '';
    this.#wanted = wantedByAddress(nothingWanted, show);
    this.#search.value = this.#wanted.q;
    this.#select(true);
    const row = this.#rows.indexOf(Number(readAddress().get('row')));
    if (row >= 0) this.#table.open(row);
    else this.#story.element.close();
  }

  #open(row: number): void {
    const isMoving = this.#story.element.open;
    this.#openedRow = this.#rows.number('row', row) ?? 0;
    this.#story.show(resultStory(this.#rows, row, this.#data));
    writeAddress({ row: this.#rows.factColumn('row').text(row) }, !isMoving);
  }

  #clicked(event: Event): void {
    const target = event.target instanceof Element ? event.target.closest('a, button') : null;
    if (!(target instanceof HTMLElement)) return;
    const { show, code = '', message = '', save } = target.dataset;
    const group = show ?? save;
    if (group === undefined) return;
    event.preventDefault();
    this.#changeWanted({ ...nothingWanted, show: group, code, message, sort: this.#wanted.sort });
    if (save !== undefined) this.#save(save);
    this.#section.jumpFrom(target);
  }

  #clearFilters(): void {
    this.#changeWanted({ ...nothingWanted, show: 'all', sort: this.#wanted.sort });
    this.#search.focus();
  }

  /** Saves rows in a file. @param what `shown` for the texts of the table; `correct` for the file that a step names */
  #save(what: string): void {
    const text =
      what === 'shown'
        ? shownCsv(this.#chooser.chosen(this.#columns), this.#selected)
        : refeedCsv(this.#rows, this.#selected);
    download(what === 'correct' ? 'correct.csv' : `${this.#data.run.id}-${what}.csv`, text);
  }

  /** Changes what the reader wants to see. @param isStep whether the reader can go back */
  #changeWanted(changes: Partial<Wanted>, isStep = true): void {
    // The search field may have text that was typed a moment ago.
    const q = this.#search.value.trim();
    this.#wanted = { ...this.#wanted, q, ...changes };
    if (q !== this.#wanted.q) this.#search.value = this.#wanted.q;
    writeAddress(this.#wanted, isStep);
    this.#section.keepHeight();
    this.#select(true);
  }

  /** Selects the rows that the reader wants. @param isChanged whether the reader has changed the filter or the order */
  #select(isChanged: boolean): void {
    const { show, sort, q } = this.#wanted;
    const group = (show || 'all') as RowGroup;
    this.#offerChoices(group);
    for (const link of this.#summary.querySelectorAll<HTMLElement>('.ledger a'))
      link.setAttribute('aria-current', String(link.dataset['show'] === group));
    const order = {
      sortBy: this.#columns.find(({ id }) => id === sort.replace(/^-/, '')),
      isDescending: sort.startsWith('-'),
    };
    const keeps = isInGroup(group, this.#data);
    this.#selected = this.#rows.select({ ...this.#wanted, ...order, keeps });
    this.#showFound();
    const chosen = this.#chooser.chosen(this.#columns);
    const columns = isNarrowScreen() ? cardColumns(this.#rows) : chosen;
    this.#table.show({ columns, selected: this.#selected, hits: hitPattern(q), ...order }, isChanged);
  }

  #offerChoices(group: RowGroup): void {
    const { code, operation } = this.#wanted;
    const { codes, operations } = this.#data.summary;
    const rowsOf = (each: RowGroup) => countOf(each, this.#data);
    const groups = [...rowGroups.filter((each) => rowsOf(each) > 0), group];
    const names = operations.map((each) => each.operation).filter(Boolean);
    offerChoices(this.#group, groups, group, (each) => `${count(rowsOf(each))} ${groupText(each)}`);
    offerChoices(
      this.#code,
      ['', ...codes.map((each) => each.code), code],
      code,
      (each) => each || 'All codes',
    );
    offerChoices(this.#operation, ['', ...names, operation], operation, (each) => each || 'All operations');
    this.#operation.hidden = names.length < 2;
  }

  #showFound(): void {
    const { show, code, message, operation, q } = this.#wanted;
    const [found, all] = [this.#selected.length, this.#data.summary.manifest.rows];
    const text = found === all ? `All ${counted(all, 'row')}` : `${count(found)} of ${counted(all, 'row')}`;
    if (this.#found.textContent !== text) this.#found.textContent = text;
    // The group tells which numbers all its rows have in common.
    const group = this.#data.messages.find((each) => each.kind === message && each.code === code);
    this.#message.textContent =
      message === '' ? '' : `with the message “${shortened(group?.message ?? message, 80)}”`;
    this.#clear.hidden = `${code}${message}${operation}${q}` === '' && ['', 'all'].includes(show);
    for (const save of this.#saves) save.disabled = found === 0;
  }

  /** Prints the rows that failed, are invalid or unclear. */
  #print(): void {
    const needs = isInGroup('attention', this.#data);
    const keeps: Selection['keeps'] = (outcome, code, unclear) => unclear || needs(outcome, code, unclear);
    this.#table.print(this.#columns, this.#rows.select({ keeps }));
  }
}

function leftOutText(inside: number, all: number): string {
  return [
    `This page has only ${count(inside)} of ${counted(all, 'row')}, because more would make it too large to send.`,
    'Rows that failed, are invalid or unclear were included first. report.csv has all rows.',
  ].join(' ');
}

function choiceField(label: string, onChoice: (choice: string) => void): HTMLSelectElement {
  const select = element('select', { 'aria-label': label, change: () => onChoice(select.value) });
  return select;
}

/** Offers choices. @param choices may have the chosen one twice */
function offerChoices<Choice extends string>(
  select: HTMLSelectElement,
  choices: readonly Choice[],
  chosen: Choice,
  textOf: (choice: Choice) => string,
): void {
  const options = [...new Set(choices)].map((value) => element('option', { value }, textOf(value)));
  redraw(select, options);
  select.value = chosen;
}
