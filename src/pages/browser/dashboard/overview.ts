import { count } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText } from '../../../domain/terms.ts';
import {
  needsPerson,
  type RunData,
  type ScheduleData,
  type Snapshot,
  type WorkerData,
} from '../../server/page-data.ts';
import { type Child, element, redraw, tableElement } from '../dom.ts';
import { EndedRuns } from './ended-runs.ts';
import { type Controls, runRow } from './run-parts.ts';

/** All runs, workers and schedules. What the reader has chosen stays when newer data is shown. */
export class OverviewPage {
  readonly element = element('div', { class: 'overview' });
  readonly #ended = new EndedRuns();

  /** @param older ended runs that the snapshot does not have */
  draw(snapshot: Snapshot, older: readonly RunData[], controls: Controls | undefined): void {
    const { workers, schedules, hasDaemon, stateDir, datastore } = snapshot;
    const runs = [...snapshot.runs, ...older];
    const retried = new Set(runs.map(({ retryOf }) => retryOf));
    const inProgress = runs.filter(({ ended }) => !ended);
    const needFirst = inProgress.toSorted(
      (a, b) => Number(needsPerson(b, false)) - Number(needsPerson(a, false)),
    );
    const ended = runs.filter((run) => run.ended);
    if (ended.length > 0) this.#ended.show(ended, retried);
    const place = datastore === undefined ? stateDir : `${stateDir} and ${datastore.name}`;
    redraw(
      this.element,
      element('h1', 'Runs'),
      element('p', { class: 'quiet' }, `in ${place}`),
      element('h2', 'In progress'),
      inProgress.length === 0
        ? element(
            'p',
            { class: 'empty' },
            'No run is in progress. Start one: ',
            element('code', 'cqbatch run manifest.csv'),
          )
        : element(
            'div',
            { id: 'in-progress' },
            needFirst.map((run) => runRow(run, controls)),
          ),
      ended.length > 0 && [element('h2', 'Ended runs'), this.#ended.element],
      datastore !== undefined && [element('h2', 'Workers'), workerTable(workers, datastore, inProgress)],
      schedules.length > 0 && [
        element('h2', 'Schedules'),
        !hasDaemon &&
          element(
            'p',
            { class: 'note' },
            'No daemon is running, so no schedule starts a run. Type: ',
            element('code', 'cqbatch worker --coordinate'),
          ),
        scheduleTable(schedules),
      ],
    );
  }
}

/** A table of workers. @param runs those in progress: workers are found by the APIs of shared runs */
export function workerTable(
  workers: readonly WorkerData[],
  datastore: Snapshot['datastore'],
  runs: readonly RunData[],
): HTMLElement {
  if (workers.length === 0) {
    const isMissed = runs.some(({ isShared, state }) => isShared && state !== 'paused');
    const none = isMissed
      ? 'No worker is running for the APIs of these runs. Start one: '
      : 'Workers are shown while rows of their API are called. Start one: ';
    const what = datastore?.trouble
      ? 'Unknown until Redis is back.'
      : [none, element('code', 'cqbatch worker')];
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
  const links = runs.map((run) => element('a', { href: `#run=${run}` }, run));
  return [
    localTime(due),
    result === 'began' ? ' started ' : ` ${result} `,
    links,
    message === undefined ? '' : ` ${message}`,
  ];
}
