import { composed } from '../../../../base/text/composed.ts';
import { count, duration } from '../../../../base/text/format.ts';
import { localTime } from '../../../../base/text/local-time.ts';
import { actorText, apiText, shareText } from '../../../../domain/terms.ts';
import { rowsInNeed } from '../../../../engine/report/html/verdict.ts';
import {
  calledText,
  needsPerson,
  type RunData,
  reasonOf,
  type Snapshot,
  stateOf,
} from '../../../server/page-data.ts';
import { button, type Child, element, redraw, searchField, tableElement } from '../../dom.ts';
import { runLink, shownApi, stateText, timeElement } from '../run-parts.ts';

/** The number of ended runs in the table, unless the reader wants all. */
const fewEnded = 20;

interface Column {
  readonly title: string;
  /** The text in which the reader can search. */
  readonly text: (run: RunData) => string;
  /** What the cell shows. Default: the text. */
  readonly cell?: (run: RunData) => Child;
  /** The value by which runs are sorted, at first the largest. Undefined comes last. Default: the text, at first in its order. */
  readonly key?: (run: RunData, isRetried: boolean) => string | number | undefined;
  /** When the column is left out: while no run has a value, or while all runs have the same. */
  readonly leftOutIf?: keyof typeof leastValues;
}

/** A column that may be left out is shown with more values than this. */
const leastValues = { empty: 0, same: 1 } as const;

/** The table of ended runs. At first, those that need a person come before the others, and newer runs before older ones. */
export class EndedRuns {
  readonly element = element('div', { class: 'ended' });
  #runs: readonly RunData[] = [];
  #retriedRuns: ReadonlySet<string | undefined> = new Set();
  #mostShown = fewEnded;
  #sortBy = byState;
  #isDescending = true;
  readonly #search = searchField('find-run', 'Search ended runs', () => this.#draw());

  show({ runs, ended }: Pick<Snapshot, 'runs' | 'ended'>): void {
    this.#runs = ended;
    this.#retriedRuns = new Set([...runs, ...ended].map(({ local }) => local?.retryOf));
    this.#draw();
  }

  #draw(): void {
    const words = composed(this.#search.value).toLowerCase().split(/\s+/);
    const found = this.#runs.filter((run) => {
      const text = textOf(run);
      return words.every((word) => text.includes(word));
    });
    const shown = this.#sorted(found).slice(0, this.#mostShown);
    redraw(
      this.element,
      this.#search,
      shown.length === 0
        ? element('p', `None of the ${count(this.#runs.length)} ended runs matches.`)
        : this.#table(shown),
      found.length > shown.length &&
        button(`Show all ${count(found.length)}`, () => this.#showAll(), { id: 'all-ended' }),
    );
  }

  /** Sorts runs. Of runs with equal keys, the newest comes first. */
  #sorted(runs: readonly RunData[]): readonly RunData[] {
    const { text, key = text } = this.#sortBy;
    const sign = this.#isDescending ? -1 : 1;
    return runs.toSorted((...pair) => {
      const [one, other] = pair.map((run) => key(run, this.#retriedRuns.has(run.id)));
      if (one === undefined || other === undefined)
        return Number(one === undefined) - Number(other === undefined);
      return sign * (Number(one > other) - Number(one < other));
    });
  }

  #table(runs: readonly RunData[]): HTMLElement {
    const order = this.#isDescending ? 'descending' : 'ascending';
    const shown = columns.filter(
      ({ leftOutIf, text }) =>
        leftOutIf === undefined ||
        new Set(this.#runs.map(text).filter(Boolean)).size > leastValues[leftOutIf],
    );
    const head = shown.map((column) => {
      const sort = button(column.title, () => this.#sort(column), { id: `sort ${column.title}` });
      return element('th', { 'aria-sort': column === this.#sortBy && order }, sort);
    });
    const rows = runs.map((run) =>
      shown.map(({ title, text, cell = text }) => element('td', { 'data-column': title }, cell(run))),
    );
    return tableElement('Ended runs', head, rows);
  }

  #sort(column: Column): void {
    this.#isDescending = column === this.#sortBy ? !this.#isDescending : column.key !== undefined;
    this.#sortBy = column;
    this.#draw();
  }

  #showAll(): void {
    this.#mostShown = Number.POSITIVE_INFINITY;
    this.#draw();
    document.getElementById('table Ended runs')?.focus();
  }
}

const byState: Column = {
  title: 'State',
  text: (run) => [stateOf(run).text, reasonOf(run)].join(' '),
  cell: stateCell,
  key: (run, isRetried) => Number(needsPerson(run, isRetried)),
};

const columns: readonly Column[] = [
  { title: 'Run', text: ({ id }) => id, cell: ({ id }) => runLink(id) },
  byState,
  {
    title: 'Succeeded',
    text: ({ counts, rows }) => `${count(counts.succeeded)} of ${count(rows)}`,
    key: ({ counts }) => counts.succeeded,
  },
  {
    title: 'Failed',
    text: failedText,
    cell: failedCell,
    key: ({ counts }) => rowsInNeed(counts),
  },
  {
    title: 'Unclear',
    text: ({ local }) => (local?.unclear ? count(local.unclear) : ''),
    key: ({ local }) => local?.unclear,
    leftOutIf: 'empty',
  },
  {
    title: 'Started',
    text: ({ startedAt }) => (startedAt === undefined ? '' : localTime(startedAt)),
    cell: ({ startedAt }) => startedAt !== undefined && timeElement(startedAt),
    key: ({ startedAt }) => startedAt,
  },
  {
    title: 'Duration',
    text: ({ local }) => (local === undefined ? '' : duration(local.activeMs / 1_000)),
    key: ({ local }) => local?.activeMs,
  },
  {
    title: 'Manifest',
    text: ({ manifest }) => manifest,
    cell: ({ manifest }) => element('span', { title: manifest }, manifest.replace(/^.*[/\\]/, '')),
  },
  {
    title: 'API',
    text: apiText,
    cell: (run) => element('span', { title: apiText(run) }, shownApi(run)),
    leftOutIf: 'same',
  },
  { title: 'By', text: authorOf, leftOutIf: 'same' },
  {
    title: 'Machine',
    text: ({ local, coordinator }) => (local === undefined ? (coordinator?.host ?? '') : 'this machine'),
    leftOutIf: 'same',
  },
];

function stateCell(run: RunData): Child {
  const reason = reasonOf(run) ?? '';
  return [stateText(stateOf(run)), ' ', element('small', { title: reason }, reason)];
}

/** The failed rows of a run, in words: `48 (16 %)`; of a run that did not call all rows, `15 of 101 called rows failed, 2,899 left`. */
function failedText(run: RunData): string {
  const { counts, rows } = run;
  const failed = rowsInNeed(counts);
  return calledText(run) || (failed === 0 ? '' : `${count(failed)} (${shareText(failed, rows)})`);
}

function failedCell(run: RunData): Child {
  const text = failedText(run);
  return rowsInNeed(run.counts) === 0 ? text : element('b', { class: 'lost' }, text);
}

function authorOf({ local }: RunData): string {
  const by = local?.states[0]?.by;
  return by === undefined ? '' : actorText(by);
}

/**
 * The text in which a search finds a run, with the names of columns that have something: `Run monthly State completed Failed 3 (2 %) …`.
 */
function textOf(run: RunData): string {
  const texts = columns.map(({ title, text }) => text(run) && `${title} ${text(run)}`);
  return composed([...texts, run.local?.retryOf].join(' ')).toLowerCase();
}
