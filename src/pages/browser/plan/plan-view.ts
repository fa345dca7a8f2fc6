import { count, counted } from '../../../base/text/format.ts';
import { type PlanGroup, planGroups } from '../../../engine/report/plan-page/plan-groups.ts';
import { planHead } from '../../../engine/report/plan-page/plan-head.ts';
import type { PlanPageData } from '../../../engine/report/plan-page/plan-page-data.ts';
import { readAddress, wantedByAddress, writeAddress } from '../address.ts';
import { sorted } from '../column.ts';
import { button, type Child, copyClicked, debounced, drawnMarkup, element, searchField } from '../dom.ts';
import { isNarrowScreen, onNarrowScreen } from '../narrow-screen.ts';
import { RowDialog } from '../row-dialog.ts';
import { RowsSection } from '../rows-section.ts';
import { hitPattern } from '../table/search-hits.ts';
import { RowTable } from '../table/table.ts';
import { planColumns } from './plan-columns.ts';
import type { PlanRows } from './plan-rows.ts';
import { planStory } from './plan-story.ts';

/** What the reader wants to see. `sort` is the `id` of a column, after `-` in descending order. */
const nothingWanted = { show: '', q: '', sort: '' };

/** The page of a plan. */
export class PlanView {
  readonly element: HTMLElement;
  readonly #data: PlanPageData;
  readonly #rows: PlanRows;
  readonly #columns: ReturnType<typeof planColumns>;
  #wanted: Readonly<typeof nothingWanted> = nothingWanted;
  readonly #head: HTMLElement;
  readonly #section = new RowsSection(() => this.#table.focus());
  readonly #search = searchField(
    'find-row',
    'Search all cells',
    debounced(() => this.#changeWanted({}, false)),
  );
  readonly #found = element('span', { 'aria-live': 'polite', class: 'found quiet' });
  readonly #clear = button('Show all rows', () => this.#changeWanted(nothingWanted), { id: 'clear-filters' });
  readonly #table: RowTable;
  readonly #story: RowDialog;

  /** @param end what is shown below the rows. @param signal aborts the listeners */
  constructor(data: PlanPageData, rows: PlanRows, end: Child, signal: AbortSignal) {
    this.#data = data;
    this.#rows = rows;
    this.#columns = planColumns(rows);
    this.#table = new RowTable({
      signal,
      storyOf: (line) => rows.indexOf(line),
      onOpen: (line) => this.#open(line),
      onSort: ({ id }) => this.#changeWanted({ sort: this.#wanted.sort === id ? `-${id}` : id }),
    });
    this.#story = new RowDialog(this.#table, () => writeAddress({ row: '' }, true));
    this.#head = element('div', drawnMarkup(planHead(data)));
    this.#head.addEventListener('click', (event) => this.#onClick(event));
    const tools = element('div', { class: 'tools few' }, this.#search, this.#found, this.#clear);
    const { element: section, skipLink } = this.#section;
    section.append(...this.#leftOutNotes(), tools, this.#table.element);
    this.element = element('div', skipLink, this.#head, section, end, this.#story.element);
    this.element.addEventListener('click', (event) => void copyClicked(event));
    addEventListener('popstate', () => this.followAddress(), { signal });
    addEventListener('beforeprint', () => this.#print(), { signal });
    addEventListener('afterprint', () => this.#show(true), { signal });
    onNarrowScreen(() => this.#show(false), signal);
  }

  /** Shows what the address says, by default the rows for which the plan is not ready. The view must be on the page. */
  followAddress(): void {
    this.#wanted = wantedByAddress(nothingWanted, groupInNeed(this.#data));
    this.#search.value = this.#wanted.q;
    this.#show(true);
    const line = this.#rows.lineOf(Number(readAddress().get('row')));
    if (line >= 0) this.#table.open(line);
    else this.#story.element.close();
  }

  #open(line: number): void {
    const row = this.#rows.rowOf(line);
    const isMoving = this.#story.element.open;
    this.#story.show(planStory(row, this.#rows.requestOf(row)));
    writeAddress({ row: String(row.row) }, !isMoving);
  }

  #onClick(event: Event): void {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-show]') : null;
    if (link === null) return;
    event.preventDefault();
    this.#changeWanted({ show: link.dataset['show'] ?? '', q: '' });
  }

  /** Changes what the reader wants to see. @param isStep whether the reader can go back */
  #changeWanted(changes: Partial<typeof nothingWanted>, isStep = true): void {
    // The search field may have text that was typed a moment ago.
    const q = this.#search.value.trim();
    this.#wanted = { ...this.#wanted, q, ...changes };
    if (q !== this.#wanted.q) this.#search.value = this.#wanted.q;
    writeAddress({ ...this.#wanted, show: this.#wanted.show || 'all' }, isStep);
    this.#section.keepHeight();
    this.#show(true);
  }

  /** Shows the rows that the reader wants. @param isChanged whether the reader has changed the filter or the order */
  #show(isChanged: boolean): void {
    const { show, sort, q } = this.#wanted;
    const columns = isNarrowScreen() ? this.#columns.narrow : this.#columns.wide;
    const order = {
      sortBy: columns.find(({ id }) => id === sort.replace(/^-/, '')),
      isDescending: sort.startsWith('-'),
    };
    for (const link of this.#head.querySelectorAll<HTMLElement>('.ledger a'))
      link.setAttribute('aria-current', String(link.dataset['show'] === (show || 'all')));
    const selected = sorted(this.#select(q), order.sortBy, order.isDescending);
    this.#showFound(selected);
    this.#table.show({ columns, selected, hits: hitPattern(q), ...order }, isChanged);
  }

  #print(): void {
    this.#table.print(this.#columns.wide, this.#select(''));
  }

  #select(q: string): Uint32Array {
    return this.#rows.select(q, this.#wanted.show || 'all', this.#columns.wide);
  }

  #showFound(selected: Uint32Array): void {
    const { show, q } = this.#wanted;
    const found = this.#rows.rowsAmong(selected);
    const all = this.#data.counts.rows;
    const group = planGroups(this.#data).find((each) => each.group === show);
    const which = group === undefined || show === 'all' ? '' : `: ${group.name}`;
    const text =
      found === all ? `All ${counted(all, 'row')}` : `${count(found)} of ${counted(all, 'row')}${which}`;
    if (this.#found.textContent !== text) this.#found.textContent = text;
    this.#clear.hidden = found === all || (q === '' && ['', 'all'].includes(show));
  }

  #leftOutNotes(): readonly HTMLElement[] {
    const { rows: all } = this.#data.counts;
    if (this.#rows.count === all) return [];
    const text = `This page has only ${count(this.#rows.count)} of ${counted(all, 'row')}, because more would make it too large to send. Invalid rows and rows with warnings were included first.`;
    return [element('p', { class: 'note' }, text)];
  }
}

function groupInNeed({ refusals, counts: { kinds, warned, partial } }: PlanPageData): PlanGroup | '' {
  if (refusals.length === 0) return '';
  if (kinds.invalid > 0) return 'invalid';
  // Rows about one entry are a reason why the plan is not ready, and they have warnings.
  if (warned > 0) return 'warned';
  return partial > 0 ? 'partial' : '';
}
