import { noOutcomes, outcomes } from '../domain.ts';
import type { PageData } from '../report/html/page-data.ts';
import { count, counted } from '../text/quantities.ts';
import { Charts } from './chart/charts.ts';
import { button, download, element, outcomeText, redraw } from './dom.ts';
import { type Column, everything, type Rows, refeedCsv, type Selection } from './rows.ts';
import { StoryDialog } from './story.ts';
import { RowTable } from './table.ts';

/** The outcomes, codes, charts and rows of a run. Filters and sort order stay when newer data is shown. */
export class ReportView {
  readonly element: HTMLElement;
  #shown: { readonly data: PageData; readonly rows: Rows | undefined } | undefined;
  #wanted = everything;
  #selected: Uint32Array = new Uint32Array();
  readonly #unclear = element('p', { class: 'note' });
  readonly #outcomes = element('div', { class: 'buttons', role: 'group', 'aria-label': 'Show only' });
  readonly #codes = element('section', { 'aria-label': 'Codes' });
  readonly #charts: Charts;
  readonly #place = element('section', { 'aria-label': 'Rows' }, element('h2', 'Rows'));
  readonly #leftOut = element('p', { class: 'note' });
  readonly #code = chooser('All codes', (code) => this.#want({ code }));
  readonly #operation = chooser('All operations', (operation) => this.#want({ operation }));
  readonly #found = element('p', { 'aria-live': 'polite', class: 'found' });
  readonly #inside: HTMLElement;
  readonly #table: RowTable;
  readonly #story = new StoryDialog();

  /** @param signal aborts when the view is no longer needed */
  constructor(signal: AbortSignal) {
    // These listeners come before those of the charts, which read their colours from the style sheet.
    const { classList } = document.documentElement;
    addEventListener('beforeprint', () => classList.add('on-paper'), { signal });
    addEventListener('afterprint', () => classList.remove('on-paper'), { signal });
    this.#charts = new Charts(signal);
    this.#table = new RowTable({
      signal,
      onOpen: (row) => {
        const { rows, data } = this.#shown ?? {};
        if (rows !== undefined && data !== undefined) this.#story.show(rows, row, data.advice);
      },
      onSort: (column) => {
        const { sortBy, descending } = this.#wanted;
        const isSame = sortBy?.kind === column.kind && sortBy.name === column.name;
        this.#want({ sortBy: column, descending: isSame && !descending });
      },
    });
    this.#inside = element('div', this.#tools(), this.#found, this.#table.element);
    this.#place.append(this.#leftOut, this.#inside);
    this.element = element(
      'div',
      this.#unclear,
      this.#outcomes,
      this.#codes,
      this.#charts.element,
      this.#place,
      this.#story.element,
    );
  }

  /** @param rows undefined when there are too many */
  show(data: PageData, rows: Rows | undefined): void {
    const isFirst = this.#shown === undefined;
    this.#shown = { data, rows };
    this.#unclear.hidden = data.summary.unclear === 0;
    this.#unclear.textContent = unclearNote(data);
    this.#drawFilters();
    redraw(this.#codes, element('h2', 'Results by code'), this.#codeList(data));
    this.#charts.show(data);
    this.#leftOut.hidden = data.rows.selection === 'all';
    this.#leftOut.textContent = leftOutText(data);
    this.#inside.hidden = rows === undefined;
    if (rows === undefined) return;
    const { codes, operations } = data.summary;
    offer(this.#code, [...new Set(codes.map(({ code }) => code))]);
    offer(this.#operation, operations.map(({ operation }) => operation).filter(Boolean));
    this.#operation.hidden = this.#operation.options.length < 3;
    this.#story.update(rows, data.advice);
    this.#select(isFirst);
  }

  /** Draws the buttons that filter the rows by outcome. */
  #drawFilters(): void {
    const { outcomes: counts = noOutcomes(), unclear = 0 } = this.#shown?.data.summary ?? {};
    const { outcomes: chosen, unclear: onlyUnclear } = this.#wanted;
    const toggle = (name: string, rows: number, isChosen: boolean, click: () => void): HTMLElement =>
      button(`${count(rows)} ${outcomeText(name)}`, click, {
        id: `only ${name}`,
        'aria-pressed': String(isChosen),
        class: `outcome ${name}`,
      });
    redraw(
      this.#outcomes,
      element('span', { class: 'quiet' }, 'Show only'),
      outcomes
        .filter((outcome) => counts[outcome] > 0)
        .map((outcome) => toggle(outcome, counts[outcome], chosen.has(outcome), () => this.#toggle(outcome))),
      unclear > 0 && toggle('unclear', unclear, onlyUnclear, () => this.#filter({ unclear: !onlyUnclear })),
    );
  }

  /** The codes of the rows, each with its meaning and an example. A click filters the rows. */
  #codeList({ summary: { codes }, advice }: PageData): HTMLElement {
    const troubled = codes.filter(({ outcome }) => needsLook.includes(outcome));
    const others = codes.filter(({ outcome }) => !needsLook.includes(outcome));
    const items = [...troubled, ...others].map(({ outcome, code, count: rows, message, row }) => {
      const { meaning = '', remedy } = advice[code] ?? {};
      const choose = button([`${code} `, element('span', counted(rows, 'row'))], () => this.#showCode(code), {
        id: `code ${outcome} ${code}`,
      });
      return element(
        'li',
        element('h3', element('span', { class: `outcome ${outcome}` }, outcomeText(outcome)), ' ', choose),
        element('p', meaning, remedy !== undefined && outcome !== 'succeeded' && ` ${remedy}`),
        message !== '' && element('p', { class: 'quiet' }, `Row ${row}: ${message}`),
      );
    });
    return element('ul', { class: 'codes' }, items);
  }

  /** The controls that filter and save rows. */
  #tools(): HTMLElement {
    const search = element('input', {
      type: 'search',
      placeholder: 'Search all columns',
      'aria-label': 'Search all columns',
      input: debounced(() => this.#want({ query: search.value.trim() })),
    });
    const save = button('Save these rows as CSV', () => this.#save(), { class: 'main' });
    return element('div', { class: 'tools' }, search, this.#code, this.#operation, save);
  }

  #save(): void {
    const { rows, data } = this.#shown ?? {};
    if (rows !== undefined) download(`${data?.run.id}-rows.csv`, refeedCsv(rows, this.#selected));
  }

  #toggle(outcome: string): void {
    const { outcomes: chosen } = this.#wanted;
    const isChosen = chosen.has(outcome);
    this.#filter({
      outcomes: new Set(isChosen ? [...chosen].filter((other) => other !== outcome) : [...chosen, outcome]),
    });
  }

  #filter(changes: Partial<Selection>): void {
    this.#want(changes);
    this.#drawFilters();
  }

  #showCode(code: string): void {
    this.#code.value = code;
    this.#want({ code });
    this.#place.scrollIntoView({ behavior: 'smooth' });
  }

  #want(changes: Partial<Selection>): void {
    this.#wanted = { ...this.#wanted, ...changes };
    this.#select(true);
  }

  /** @param isOther whether the reader has changed the filter or the order */
  #select(isOther: boolean): void {
    const { rows, data } = this.#shown ?? {};
    if (rows === undefined || data === undefined) return;
    this.#selected = rows.select(this.#wanted);
    const [found, all] = [this.#selected.length, rows.count];
    const text = found === all ? `All ${counted(all, 'row')}` : `${count(found)} of ${counted(all, 'row')}`;
    if (this.#found.textContent !== text) this.#found.textContent = text;
    const { sortBy, descending } = this.#wanted;
    this.#table.show(
      {
        columns: columnsOf(rows, data.summary.unclear > 0),
        selected: this.#selected,
        sortBy: sortBy && rows.like(sortBy),
        descending,
      },
      isOther,
    );
  }
}

/** Outcomes that need attention, listed first. */
const needsLook: readonly string[] = ['failed', 'invalid', 'not_attempted'];

/** The columns of the table, in order. */
function columnsOf({ columns }: Rows, hasUnclear: boolean): readonly Column[] {
  const first = ['row', 'outcome', 'code', 'message'];
  const last = [...(hasUnclear ? ['unclear'] : []), 'attempts', 'status', 'duration', 'started'];
  const facts = (names: readonly string[]): readonly Column[] =>
    columns.filter(({ kind, name }) => kind === 'fact' && names.includes(name));
  return [
    ...facts(first),
    ...columns.filter(({ kind }) => kind === 'cell'),
    ...columns.filter(({ kind }) => kind === 'result'),
    ...facts(last),
  ];
}

function unclearNote({ run, summary }: PageData): string {
  const rows = counted(summary.unclear, 'row');
  return (
    `${rows} ${summary.unclear === 1 ? 'is' : 'are'} unclear: the API may have processed an attempt, but no usable answer arrived. ` +
    'If such a row succeeded, the change may have been made twice. If it failed, the change may have been made. ' +
    `Check these entries in the service before you retry the rows. To retry those that failed: cqbatch retry ${run.id} --unclear`
  );
}

function leftOutText({ rows, summary }: PageData): string {
  const total = count(summary.manifest.rows);
  return rows.selection === 'none'
    ? `This page has no rows: all ${total} would make it too large to send. They are in report.csv.`
    : `This page has only the ${count(rows.count)} rows that did not succeed or are unclear: all ${total} would make it too large to send. They are in report.csv.`;
}

function chooser(all: string, onChoice: (choice: string) => void): HTMLSelectElement {
  const select = element(
    'select',
    { 'aria-label': all, change: () => onChoice(select.value) },
    element('option', { value: '' }, all),
  );
  return select;
}

/** Replaces the choices. The current choice stays. */
function offer(select: HTMLSelectElement, choices: readonly string[]): void {
  const { value } = select;
  const [all, ...others] = [...select.options];
  const wanted = [...new Set([...choices, ...(value === '' ? [] : [value])])];
  const isSame = wanted.join('\n') === others.map((option) => option.value).join('\n');
  if (all === undefined || isSame) return;
  select.replaceChildren(all, ...wanted.map((choice) => element('option', { value: choice }, choice)));
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
