import { count, counted } from '../../base/text/format.ts';
import { type Outcome, outcomes, outcomeText } from '../../domain/terms.ts';
import type { PageData } from '../../engine/report/html/page-data.ts';
import { type RowGroup, reportSummary } from '../../engine/report/html/report-head.ts';
import { outcomesInNeed, rowsInNeed } from '../../engine/report/html/verdict.ts';
import { Charts } from './chart/charts.ts';
import { button, copyCommand, download, drawn, element, redraw } from './dom.ts';
import { RowDialog } from './row-dialog.ts';
import { type Column, everything, type Rows, refeedCsv, type Selection } from './rows.ts';
import { RowTable } from './table.ts';

/** The figures, what to do, the charts and the rows of a run. Filters and sort order stay when newer data is shown. */
export class ReportView {
  readonly element: HTMLElement;
  #shown: { readonly data: PageData; readonly rows: Rows } | undefined;
  #group: RowGroup = 'all';
  #wanted = everything;
  #selected: Uint32Array = new Uint32Array();
  readonly #summary = element('div');
  readonly #charts: Charts;
  readonly #place = element('section', { 'aria-label': 'Rows', id: 'rows' }, element('h2', 'Rows'));
  readonly #groups = element('div', { class: 'buttons', role: 'group', 'aria-label': 'Show' });
  readonly #leftOut = element('p', { class: 'note' });
  readonly #code = chooser('All codes', (code) => this.#want({ code }));
  readonly #operation = chooser('All operations', (operation) => this.#want({ operation }));
  readonly #found = element('p', { 'aria-live': 'polite', class: 'found' });
  readonly #table: RowTable;
  readonly #story: RowDialog;

  /** @param signal aborts when the view is no longer needed */
  constructor(signal: AbortSignal) {
    this.#charts = new Charts(signal);
    this.#story = new RowDialog((steps) => this.#table.move(steps));
    this.#table = new RowTable({
      signal,
      onOpen: (row) => {
        if (this.#shown !== undefined) this.#story.show(this.#shown.rows, row, this.#shown.data.advice);
      },
      onSort: (column) => {
        const { sortBy, descending } = this.#wanted;
        const isSame = sortBy?.kind === column.kind && sortBy.name === column.name;
        this.#want({ sortBy: column, descending: isSame && !descending });
      },
    });
    addEventListener('beforeprint', () => this.#print(), { signal });
    addEventListener('afterprint', () => this.#select(true), { signal });
    this.#summary.addEventListener('click', (event) => this.#clicked(event));
    this.#place.append(this.#leftOut, this.#groups, this.#tools(), this.#found, this.#table.element);
    this.element = element('div', this.#summary, this.#charts.element, this.#place, this.#story.element);
  }

  show(data: PageData, rows: Rows): void {
    const isFirst = this.#shown === undefined;
    this.#shown = { data, rows };
    redraw(this.#summary, drawn(reportSummary(data)));
    this.#charts.show(data);
    const { codes, operations, manifest } = data.summary;
    this.#leftOut.hidden = rows.count === manifest.rows;
    this.#leftOut.textContent = leftOutText(rows.count, manifest.rows);
    offer(this.#code, [...new Set(codes.map(({ code }) => code))]);
    offer(this.#operation, operations.map(({ operation }) => operation).filter(Boolean));
    this.#operation.hidden = this.#operation.options.length < 3;
    this.#story.update(rows, data.advice);
    if (isFirst && rowsInNeed(data.summary.outcomes) > 0) this.#show('attention');
    else this.#select(isFirst);
  }

  /** A click on a link or a button of the summary. */
  #clicked(event: Event): void {
    const target = event.target instanceof Element ? event.target.closest('a, button') : null;
    if (!(target instanceof HTMLElement)) return;
    const { show, code, copy } = target.dataset;
    if (copy !== undefined) void copyCommand(target);
    if (show === undefined && code === undefined) return;
    event.preventDefault();
    this.#show((show ?? 'all') as RowGroup, code);
    this.#place.scrollIntoView();
  }

  #show(group: RowGroup, code = ''): void {
    this.#group = group;
    this.#code.value = code;
    const chosen: readonly Outcome[] = outcomes.filter((outcome) => outcome === group);
    this.#want({
      code,
      outcomes: group === 'attention' ? outcomesInNeed : chosen,
      unclear: group === 'unclear',
    });
  }

  /** Draws the buttons that choose a group of rows. */
  #drawGroups({ summary }: PageData): void {
    const { outcomes: counts, unclear, manifest } = summary;
    const groups: readonly (readonly [RowGroup, number, string])[] = [
      ['all', manifest.rows, ''],
      ['attention', rowsInNeed(counts), 'need you'],
      ...outcomes.map((outcome) => [outcome, counts[outcome], outcomeText(outcome)] as const),
      ['unclear', unclear, 'unclear'],
    ];
    redraw(
      this.#groups,
      groups
        .filter(([, rows]) => rows > 0)
        .map(([group, rows, name]) =>
          button(group === 'all' ? `All ${count(rows)}` : `${count(rows)} ${name}`, () => this.#show(group), {
            id: `only ${group}`,
            'aria-pressed': String(group === this.#group),
            class: `outcome ${group}`,
          }),
        ),
    );
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
    if (this.#shown === undefined) return;
    const { rows, data } = this.#shown;
    download(`${data.run.id}-rows.csv`, refeedCsv(rows, this.#selected));
  }

  #want(changes: Partial<Selection>): void {
    this.#wanted = { ...this.#wanted, ...changes };
    this.#select(true);
  }

  /** Selects and shows the rows. @param isChanged whether the reader has changed the filter or the order */
  #select(isChanged: boolean): void {
    if (this.#shown === undefined) return;
    const { rows, data } = this.#shown;
    this.#drawGroups(data);
    this.#selected = rows.select(this.#wanted);
    const [found, all] = [this.#selected.length, data.summary.manifest.rows];
    const text = found === all ? `All ${counted(all, 'row')}` : `${count(found)} of ${counted(all, 'row')}`;
    if (this.#found.textContent !== text) this.#found.textContent = text;
    const { sortBy, descending } = this.#wanted;
    this.#table.show(
      {
        columns: columnsOf(rows, data),
        selected: this.#selected,
        sortBy: sortBy && rows.like(sortBy),
        descending,
      },
      isChanged,
    );
  }

  /** Prints the rows that need the reader, whatever the filter. */
  #print(): void {
    if (this.#shown === undefined) return;
    this.#table.print(this.#shown.rows.select({ ...everything, outcomes: outcomesInNeed }));
  }
}

/** The columns of the table, in order: the row and its result, its other cells, and the calls. */
function columnsOf({ columns }: Rows, { operations }: PageData): readonly Column[] {
  const facts = (...names: readonly string[]): readonly Column[] =>
    names.flatMap((wanted) => columns.filter(({ kind, name }) => kind === 'fact' && name === wanted));
  const cells = columns.filter(({ kind }) => kind === 'cell');
  const ordered = [
    ...facts('row', 'outcome'),
    ...cells.filter(({ role }) => role === 'subject'),
    ...(Object.keys(operations).length > 1 ? cells.filter(({ role }) => role === 'operation') : []),
    ...facts('code', 'message'),
    ...cells.filter(({ role }) => role === undefined),
    ...columns.filter(({ kind }) => kind === 'result'),
    ...facts('unclear', 'attempts', 'status', 'duration', 'started'),
  ];
  return ordered.filter(({ isEmpty }) => !isEmpty);
}

function leftOutText(inside: number, all: number): string {
  return [
    `This page has only ${count(inside)} of ${counted(all, 'row')}, because more would make it too large to send.`,
    'Rows that need you or are unclear were included first. report.csv has all rows.',
  ].join(' ');
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
  const [all, ...options] = [...select.options];
  const wanted = [...new Set([...choices, ...(value === '' ? [] : [value])])];
  const isSame = wanted.join('\n') === options.map((option) => option.value).join('\n');
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
