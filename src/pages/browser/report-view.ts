import { count, counted } from '../../base/text/format.ts';
import { shortened } from '../../base/text/printable.ts';
import { savedName } from '../../engine/report/html/next-steps.ts';
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
import { Address } from './address.ts';
import { Charts } from './chart/charts.ts';
import { ColumnChooser } from './column-chooser.ts';
import { button, copyClicked, download, drawn, element, redraw } from './dom.ts';
import { RowDialog } from './row-dialog.ts';
import { type Column, everything, type Rows } from './rows.ts';
import { refeedCsv, shownCsv } from './saved-rows.ts';
import { RowTable } from './table.ts';

/** What the reader wants to see, as the address has it; an empty text is the default. */
interface Wanted {
  readonly show: string;
  readonly code: string;
  readonly message: string;
  readonly operation: string;
  readonly q: string;
  /** Kind and name of a column, after `-` in descending order. */
  readonly sort: string;
}

const nothingWanted: Wanted = { show: '', code: '', message: '', operation: '', q: '', sort: '' };

/** The ledger, what to do, the results by code, the charts and the rows of a run. What was chosen stays when newer data is shown. */
export class ReportView {
  readonly element: HTMLElement;
  #shown: { readonly data: PageData; readonly rows: Rows } | undefined;
  #wanted = nothingWanted;
  #selected: Uint32Array = new Uint32Array();
  readonly #address: Address;
  readonly #summary = element('div');
  readonly #charts: Charts;
  readonly #place = element('section', { 'aria-label': 'Rows', id: 'rows' }, element('h2', 'Rows'));
  readonly #leftOut = element('p', { class: 'note' });
  readonly #search = element('input', {
    type: 'search',
    placeholder: 'Search all columns',
    'aria-label': 'Search all columns',
    input: debounced(() => this.#want({ q: this.#search.value.trim() }, false)),
  });
  readonly #group = chooser('Show', (show) => this.#want({ show }));
  readonly #code = chooser('All codes', (code) => this.#want({ code, message: '' }));
  readonly #operation = chooser('All operations', (operation) => this.#want({ operation }));
  readonly #columns = new ColumnChooser(() => this.#select(false));
  readonly #found = element('span', { 'aria-live': 'polite', class: 'found quiet' });
  readonly #message = element('span', { class: 'quiet' });
  readonly #clear = button('Clear filters', () => this.#clearFilters(), { id: 'clear-filters' });
  readonly #saves = [
    button('Save as shown', () => this.#save('shown')),
    button('Save as manifest', () => this.#save('rows'), { class: 'main' }),
  ];
  readonly #table: RowTable;
  readonly #story: RowDialog;

  /** @param signal aborts when the view is no longer needed */
  constructor(signal: AbortSignal) {
    this.#charts = new Charts(signal);
    this.#address = new Address(signal, () => this.#followAddress());
    this.#story = new RowDialog({
      canMove: (steps) => this.#table.canMove(steps),
      move: (steps) => this.#table.move(steps),
      onClose: () => this.#address.write({ row: '' }, true),
    });
    this.#table = new RowTable({
      signal,
      onOpen: (row) => this.#open(row),
      onSort: (column) => {
        const name = `${column.kind} ${column.name}`;
        this.#want({ sort: this.#wanted.sort === name ? `-${name}` : name });
      },
    });
    addEventListener('beforeprint', () => this.#print(), { signal });
    addEventListener('afterprint', () => this.#select(true), { signal });
    this.#summary.addEventListener('click', (event) => this.#clicked(event));
    const tools = element(
      'div',
      { class: 'tools' },
      [this.#search, this.#group, this.#code, this.#operation, this.#columns.element],
      this.#saves,
    );
    const state = element('p', { class: 'filters' }, this.#found, this.#message, this.#clear);
    this.#place.append(this.#leftOut, tools, state, this.#table.element);
    this.element = element('div', this.#summary, this.#charts.element, this.#place, this.#story.element);
    this.element.addEventListener('click', (event) => void copyClicked(event));
  }

  show(data: PageData, rows: Rows): void {
    const isFirst = this.#shown === undefined;
    this.#shown = { data, rows };
    redraw(this.#summary, drawn(reportSummary(data)));
    this.#charts.show(data);
    const { codes, operations, manifest } = data.summary;
    this.#leftOut.hidden = rows.count === manifest.rows;
    this.#leftOut.textContent = leftOutText(rows.count, manifest.rows);
    offer(this.#code, [['', 'All codes'], ...codes.map(({ code }) => [code, code] as const)]);
    const names = operations.map(({ operation }) => operation).filter(Boolean);
    offer(this.#operation, [['', 'All operations'], ...names.map((name) => [name, name] as const)]);
    this.#operation.hidden = this.#operation.options.length < 3;
    this.#story.update(rows, data);
    if (isFirst) this.#followAddress();
    else this.#select(false);
  }

  /** Shows what the address says, without which the page opens on the rows that need the reader. */
  #followAddress(): void {
    if (this.#shown === undefined) return;
    const { data, rows } = this.#shown;
    const wanted = Object.keys(nothingWanted).map((name) => [name, this.#address.read(name)] as const);
    const isPlain = wanted.every(([, value]) => value === '');
    const show = isPlain && rowsInNeed(data.summary.outcomes) > 0 ? 'attention' : '';
    this.#wanted = {
      ...nothingWanted,
      show,
      ...Object.fromEntries(wanted.filter(([, value]) => value !== '')),
    };
    this.#search.value = this.#wanted.q;
    this.#select(true);
    const row = rows.placeOf(Number(this.#address.read('row')));
    if (row >= 0) this.#table.open(row);
    else this.#story.close();
  }

  #open(row: number): void {
    if (this.#shown === undefined) return;
    const { rows, data } = this.#shown;
    const isMoving = this.#story.element.open;
    this.#story.show(rows, row, data);
    this.#address.write({ row: rows.fact('row').text(row) }, !isMoving);
  }

  /** A click on a link or a button of the summary. */
  #clicked(event: Event): void {
    const target = event.target instanceof Element ? event.target.closest('a, button') : null;
    if (!(target instanceof HTMLElement)) return;
    const { show, code = '', message = '', save } = target.dataset;
    const group = show ?? save;
    if (group === undefined) return;
    event.preventDefault();
    this.#want({ ...nothingWanted, show: group, code, message, sort: this.#wanted.sort });
    if (save !== undefined) this.#save(save);
    this.#place.scrollIntoView();
  }

  #clearFilters(): void {
    this.#want({ ...nothingWanted, show: 'all', sort: this.#wanted.sort });
    this.#search.focus();
  }

  /** @param what `shown` for the columns and texts of the table; otherwise part of the name of a manifest */
  #save(what: string): void {
    if (this.#shown === undefined) return;
    const { rows, data } = this.#shown;
    const text =
      what === 'shown'
        ? shownCsv(this.#columns.chosen(columnsOf(rows, data)), this.#selected)
        : refeedCsv(rows, this.#selected);
    download(savedName(data.run.id, what), text);
  }

  /** @param isStep whether the reader can go back */
  #want(changes: Partial<Wanted>, isStep = true): void {
    // The search may have text that was typed a moment ago.
    this.#wanted = { ...this.#wanted, q: this.#search.value.trim(), ...changes };
    if (this.#search.value.trim() !== this.#wanted.q) this.#search.value = this.#wanted.q;
    this.#address.write({ ...this.#wanted }, isStep);
    this.#select(true);
  }

  /** Selects and shows the rows. @param isChanged whether the reader has changed the filter or the order */
  #select(isChanged: boolean): void {
    if (this.#shown === undefined) return;
    const { rows, data } = this.#shown;
    const { show, code, message, operation, q, sort } = this.#wanted;
    const group = (show || 'all') as RowGroup;
    const groups = [...rowGroups, group].filter((each) => each === group || countOf(each, data) > 0);
    const texts = groups.map((each) => [each, `${count(countOf(each, data))} ${groupText(each)}`] as const);
    offer(this.#group, texts);
    [this.#group.value, this.#code.value, this.#operation.value] = [group, code, operation];
    for (const link of this.#summary.querySelectorAll<HTMLElement>('.ledger a'))
      link.setAttribute('aria-current', String(link.dataset['show'] === group));
    const all = columnsOf(rows, data);
    const isDescending = sort.startsWith('-');
    const sortBy = all.find(({ kind, name }) => `${kind} ${name}` === sort.replace(/^-/, ''));
    this.#selected = rows.select({
      query: q,
      keeps: isInGroup(group, data),
      code,
      message,
      operation,
      sortBy,
      descending: isDescending,
    });
    this.#tell(data);
    this.#columns.offer(all);
    this.#table.show(
      { columns: this.#columns.chosen(all), selected: this.#selected, sortBy, descending: isDescending },
      isChanged,
    );
  }

  /** Says how many rows are found, and by what. */
  #tell({ summary }: PageData): void {
    const { show, code, message, operation, q } = this.#wanted;
    const [found, all] = [this.#selected.length, summary.manifest.rows];
    const text = found === all ? `All ${counted(all, 'row')}` : `${count(found)} of ${counted(all, 'row')}`;
    if (this.#found.textContent !== text) this.#found.textContent = text;
    this.#message.textContent = message === '' ? '' : `with the message “${shortened(message, 80)}”`;
    this.#clear.hidden =
      [code, message, operation, q].every((each) => each === '') && ['', 'all'].includes(show);
    for (const save of this.#saves) save.disabled = found === 0;
  }

  /** Prints the rows that need the reader or are unclear, whatever the filter. */
  #print(): void {
    if (this.#shown === undefined) return;
    const { rows, data } = this.#shown;
    const needs = isInGroup('attention', data);
    this.#table.print(
      rows.select({
        ...everything,
        keeps: (outcome, code, unclear) => unclear || needs(outcome, code, unclear),
      }),
    );
  }
}

/** The columns of the table, in order: the row and its result, its other cells, and the calls. */
function columnsOf({ columns }: Rows, { operations }: PageData): readonly Column[] {
  const facts = (...names: readonly string[]): readonly Column[] =>
    names.flatMap((wanted) => columns.filter(({ kind, name }) => kind === 'fact' && name === wanted));
  const cells = columns.filter(({ kind }) => kind === 'cell');
  const ordered = [
    ...facts('row'),
    ...cells.filter(({ role }) => role === 'subject'),
    ...facts('outcome', 'code', 'message'),
    ...(Object.keys(operations).length > 1 ? cells.filter(({ role }) => role === 'operation') : []),
    ...facts('unclear'),
    ...cells.filter(({ role }) => role === undefined),
    ...columns.filter(({ kind }) => kind === 'result'),
    ...facts('attempts', 'status', 'duration', 'started'),
  ];
  return ordered.filter(({ isEmpty }) => !isEmpty);
}

function leftOutText(inside: number, all: number): string {
  return [
    `This page has only ${count(inside)} of ${counted(all, 'row')}, because more would make it too large to send.`,
    'Rows that need you or are unclear were included first. report.csv has all rows.',
  ].join(' ');
}

function chooser(label: string, onChoice: (choice: string) => void): HTMLSelectElement {
  const select = element('select', { 'aria-label': label, change: () => onChoice(select.value) });
  return select;
}

/** Replaces the choices. The current choice stays. */
function offer(
  select: HTMLSelectElement,
  choices: readonly (readonly [value: string, text: string])[],
): void {
  const { value } = select;
  const texts = new Map(choices);
  if (value !== '' && !texts.has(value)) texts.set(value, value);
  redraw(
    select,
    [...texts].map(([choice, text]) => element('option', { value: choice }, text)),
  );
  select.value = value;
}

/** Runs the action once the reader pauses typing. */
function debounced(action: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, 150);
  };
}
