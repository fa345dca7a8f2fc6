import { count, duration } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText, shareText } from '../../../domain/terms.ts';
import { rowsInNeed } from '../../../engine/report/html/verdict.ts';
import { needsPerson, type RunData, stateOf } from '../../server/page-data.ts';
import { button, type Child, element, redraw, searchField, tableElement } from '../dom.ts';
import { runLink, stateText } from './run-parts.ts';

/** Runs in the table, unless the reader wants all. */
const fewEnded = 20;
/** With more runs than this, the reader can search. */
const leastToSearch = 10;

interface Column {
  readonly title: string;
  readonly cell: (run: RunData) => Child;
  /** The value to sort by. Undefined comes last. */
  readonly key: (run: RunData) => string | number | undefined;
  /** Whether the column is left out while all runs have the same value. */
  readonly isOptional?: true;
}

/** Ended runs to search and to sort: at first, those that need a person come before the others, and the newest before older ones. */
export class EndedRuns {
  readonly element = element('div', { class: 'ended' });
  #runs: readonly RunData[] = [];
  #retried: ReadonlySet<string | undefined> = new Set();
  #most = fewEnded;
  #sortBy = 'State';
  #isDescending = false;
  readonly #search = searchField('find-run', 'Search ended runs', () => this.#draw());

  /** @param runs with those in progress, which may be retries */
  show(runs: readonly RunData[]): void {
    this.#runs = runs.filter(({ ended }) => ended);
    this.#retried = new Set(runs.map(({ retryOf }) => retryOf));
    this.#draw();
  }

  #draw(): void {
    const words = this.#search.value.toLowerCase().split(/\s+/);
    const found = this.#runs.filter((run) => words.every((word) => textOf(run).includes(word)));
    const shown = sorted(found, this.#keyOf, this.#isDescending).slice(0, this.#most);
    const all = count(this.#runs.length);
    redraw(
      this.element,
      this.#runs.length > leastToSearch && this.#search,
      shown.length === 0 ? element('p', `None of the ${all} ended runs matches.`) : this.#table(shown),
      found.length > shown.length &&
        button(`Show all ${count(found.length)}`, () => this.#showAll(), { id: 'all-ended' }),
    );
  }

  readonly #keyOf: Column['key'] = (run) => {
    if (this.#sortBy === 'State') return needsPerson(run, this.#retried.has(run.id)) ? 0 : 1;
    return columns.find(({ title }) => title === this.#sortBy)?.key(run);
  };

  #table(runs: readonly RunData[]): HTMLElement {
    const order = this.#isDescending ? 'descending' : 'ascending';
    const shown = columns.filter(
      ({ isOptional, key }) => !isOptional || new Set(this.#runs.map(key).filter(Boolean)).size > 1,
    );
    const head = shown.map(({ title }) => {
      const sort = button(title, () => this.#sort(title), { id: `sort ${title}` });
      return element('th', { 'aria-sort': title === this.#sortBy && order }, sort);
    });
    const rows = runs.map((run) =>
      shown.map(({ title, cell }) => element('td', { 'data-column': title }, cell(run))),
    );
    return tableElement('Ended runs', head, rows);
  }

  #sort(title: string): void {
    this.#isDescending = title === this.#sortBy ? !this.#isDescending : isLargestFirst.has(title);
    this.#sortBy = title;
    this.#draw();
  }

  #showAll(): void {
    this.#most = Number.POSITIVE_INFINITY;
    this.#draw();
  }
}

const isLargestFirst: ReadonlySet<string> = new Set(['Failed', 'Unclear', 'Started', 'Duration']);

const machineOf = (run: RunData): string | undefined =>
  run.isElsewhere ? run.coordinator?.host : 'this machine';

const durationOf = ({ activeSeconds }: RunData): string =>
  activeSeconds === undefined ? '' : duration(activeSeconds);

const columns: readonly Column[] = [
  { title: 'Run', cell: ({ id }) => runLink(id), key: ({ id }) => id },
  { title: 'State', cell: stateCell, key: ({ state }) => state },
  {
    title: 'Succeeded',
    cell: ({ counts, rows }) => `${count(counts.succeeded)} of ${count(rows)}`,
    key: ({ counts }) => counts.succeeded,
  },
  { title: 'Failed', cell: failedCell, key: ({ counts }) => rowsInNeed(counts) },
  {
    title: 'Unclear',
    cell: ({ unclear }) => (unclear ? count(unclear) : ''),
    key: ({ unclear }) => unclear,
  },
  {
    title: 'Started',
    cell: ({ startedAt }) => (startedAt === undefined ? '' : localTime(startedAt)),
    key: ({ startedAt }) => startedAt,
  },
  { title: 'Duration', cell: durationOf, key: ({ activeSeconds }) => activeSeconds },
  { title: 'Manifest', cell: ({ manifest }) => manifest, key: ({ manifest }) => manifest },
  { title: 'API', cell: apiText, key: apiText, isOptional: true },
  { title: 'By', cell: ({ by }) => by, key: ({ by }) => by, isOptional: true },
  { title: 'Machine', cell: machineOf, key: machineOf, isOptional: true },
];

function stateCell(run: RunData): Child {
  const { kind } = stateOf(run);
  const reason = run.reason !== undefined && element('small', { title: run.reason }, run.reason);
  return [stateText({ kind, text: run.state }), ' ', reason];
}

/** `48 (16 %)` */
function failedCell({ counts, rows }: RunData): Child {
  const failed = rowsInNeed(counts);
  if (failed === 0) return undefined;
  return element('b', { class: 'lost' }, `${count(failed)} (${shareText(failed, rows)})`);
}

function textOf(run: RunData): string {
  const { id, reason, manifest, by, retryOf, unclear = 0 } = run;
  const names = [id, manifest, apiText(run), by, machineOf(run), retryOf];
  const unclearText = unclear === 0 ? '' : `${count(unclear)} unclear`;
  return [...names, stateOf(run).text, reason, unclearText, durationOf(run)].join(' ').toLowerCase();
}

/** Of runs with equal keys, the newest comes first. */
function sorted(runs: readonly RunData[], keyOf: Column['key'], isDescending: boolean): readonly RunData[] {
  const newestFirst = runs.toSorted((one, other) => compare(other.startedAt ?? '', one.startedAt ?? ''));
  return newestFirst.toSorted((one, other) => {
    const [key, otherKey] = [keyOf(one), keyOf(other)];
    if (key === undefined || otherKey === undefined)
      return Number(key === undefined) - Number(otherKey === undefined);
    return isDescending ? compare(otherKey, key) : compare(key, otherKey);
  });
}

function compare(one: string | number, other: string | number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
