import { count } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText } from '../../../domain/terms.ts';
import {
  type RunData,
  type ScheduleData,
  type Snapshot,
  stateOf,
  type WorkerData,
} from '../../server/page-data.ts';
import { button, type Child, element, redraw, tableElement } from '../dom.ts';
import { addressOf, type OnControl, runCard, stateText } from './run-parts.ts';

/** The table shows this number of newest ended runs, unless the reader wants all. */
const fewEnded = 20;

/** All runs, workers and schedules. The text of the search and the cards stay when newer data is shown. */
export class OverviewPage {
  readonly element = element('div', { class: 'overview' });
  /** The cards of the runs in progress, by run. */
  #cards = new Map<string, HTMLElement>();
  #ended: readonly RunData[] = [];
  readonly #found = element('div');
  #mostEnded = fewEnded;
  readonly #search = element('input', {
    type: 'search',
    id: 'find-run',
    placeholder: 'Search ended runs',
    'aria-label': 'Search ended runs',
    input: () => this.#find(),
  });

  /** @param older ended runs that the snapshot does not have */
  draw(snapshot: Snapshot, older: readonly RunData[], onControl: OnControl | undefined): void {
    const { runs, workers, schedules, hasDaemon, stateDir, datastore } = snapshot;
    const inProgress = runs.filter(({ ended }) => !ended);
    this.#ended = [...runs.filter(({ ended }) => ended), ...older];
    this.#cards = new Map(
      inProgress.map((run) => {
        const card = this.#cards.get(run.id) ?? element('article', { class: 'card' });
        redraw(card, runCard(run, onControl));
        return [run.id, card];
      }),
    );
    const place = datastore === undefined ? stateDir : `${stateDir} and ${datastore.name}`;
    this.#find();
    redraw(
      this.element,
      element('h1', 'Runs'),
      element('p', { class: 'quiet' }, `in ${place}`),
      inProgress.length === 0 && nothingInProgress(),
      [...this.#cards.values()],
      this.#ended.length > 0 && [element('h2', 'Ended runs'), this.#found],
      datastore !== undefined && [
        element('h2', 'Workers'),
        workerTable(
          workers,
          datastore,
          inProgress.some(({ isShared }) => isShared),
        ),
      ],
      schedules.length > 0 && [
        element('h2', 'Schedules'),
        !hasDaemon &&
          element(
            'p',
            { class: 'note' },
            'No daemon is running, so no schedule starts a run. Type: ',
            command('cqbatch worker --coordinate'),
          ),
        scheduleTable(schedules),
      ],
    );
  }

  #find(): void {
    const words = this.#search.value.toLowerCase().split(/\s+/);
    const found = this.#ended.filter((run) => {
      const text = [run.id, stateOf(run).text, run.manifest, run.coordinator?.host].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const shown = found.slice(0, this.#mostEnded);
    const all = count(this.#ended.length);
    redraw(
      this.#found,
      this.#ended.length > 10 && this.#search,
      shown.length === 0 ? element('p', `None of the ${all} ended runs matches.`) : endedTable(shown),
      found.length > shown.length &&
        button(`Show all ${count(found.length)}`, () => this.#showAll(), { id: 'all-ended' }),
    );
  }

  #showAll(): void {
    this.#mostEnded = Number.POSITIVE_INFINITY;
    this.#find();
  }
}

function command(text: string): HTMLElement {
  return element('code', text);
}

function nothingInProgress(): HTMLElement {
  return element(
    'p',
    { class: 'empty' },
    'No run is in progress. Start one: ',
    command('cqbatch run manifest.csv'),
  );
}

function endedTable(runs: readonly RunData[]): HTMLElement {
  return tableElement(
    'Ended runs',
    ['Run', 'State', 'Succeeded', 'Started', 'Manifest', 'Machine'],
    runs.map((run) => [
      element('a', { href: addressOf(run.id), id: `run-${run.id}` }, run.id),
      stateText(run),
      `${count(run.counts.succeeded)} of ${count(run.rows)}`,
      run.startedAt === undefined ? '' : localTime(run.startedAt),
      run.manifest,
      run.isElsewhere ? run.coordinator?.host : 'this machine',
    ]),
  );
}

/** A table of workers. @param isAnyRun whether a shared run is in progress: workers are found by the API of such a run */
export function workerTable(
  workers: readonly WorkerData[],
  datastore: Snapshot['datastore'],
  isAnyRun: boolean,
): HTMLElement {
  if (workers.length === 0) {
    const none = isAnyRun
      ? 'No worker is running for the APIs of these runs. Start one: '
      : 'Workers are shown while a run of their API is in progress. Start one: ';
    const what = datastore?.trouble ? 'Unknown until Redis is back.' : [none, command('cqbatch worker')];
    return element('p', { class: 'empty' }, what);
  }
  return tableElement(
    'Workers',
    ['Worker', 'API', 'Calls in flight', 'Rows finished', 'Version', 'Last seen'],
    workers.map((worker) => [
      `${worker.pid} on ${worker.host}`,
      apiText(worker),
      `${count(worker.active)} of ${count(worker.concurrency)}`,
      count(worker.finished),
      worker.version,
      worker.lastSeenAt === undefined ? 'now' : localTime(worker.lastSeenAt),
    ]),
  );
}

function scheduleTable(schedules: readonly ScheduleData[]): HTMLElement {
  return tableElement(
    'Schedules',
    ['Schedule', 'Next (your time)', 'When', 'Last', 'Source'],
    schedules.map(({ name, cron, tz, paused, next, last, source }) => [
      name,
      paused ? 'paused' : timeList(next),
      `${cron} (${tz})`,
      last === undefined ? 'not due yet' : lastText(last),
      source,
    ]),
  );
}

function timeList(times: readonly string[]): Child {
  if (times.length === 0) return 'never';
  return element(
    'ul',
    { class: 'times' },
    times.map((time) => element('li', localTime(time))),
  );
}

function lastText({ due, result, runs, message }: NonNullable<ScheduleData['last']>): Child {
  const links = runs.map((run) => element('a', { href: addressOf(run) }, run));
  return [
    localTime(due),
    result === 'began' ? ' started ' : ` ${result} `,
    links,
    message === undefined ? '' : ` ${message}`,
  ];
}
