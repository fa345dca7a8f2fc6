import { count } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText } from '../../../domain/terms.ts';
import {
  isShared,
  needsPerson,
  type RunData,
  type ScheduleData,
  type Snapshot,
} from '../../server/page-data.ts';
import { type Child, element, redraw, tableElement } from '../dom.ts';
import type { ControlDialog } from './control-dialog.ts';
import { EndedRuns } from './ended-runs.ts';
import { runRow } from './run-parts.ts';

const noDaemon = 'No daemon is running, so no schedule starts a run. Type: ';

/** All runs, workers and schedules. */
export class OverviewPage {
  readonly element = element('div', { class: 'overview' });
  readonly #ended = new EndedRuns();

  /** @param controls undefined when the reader may not control runs */
  draw(snapshot: Snapshot, controls: ControlDialog | undefined): void {
    const { runs, ended, schedules, hasDaemon, stateDir, datastore } = snapshot;
    const need = (run: RunData) => Number(needsPerson(run, false));
    const inProgress = runs.toSorted((a, b) => need(b) - need(a));
    if (ended.length > 0) this.#ended.show(snapshot);
    const place = datastore === undefined ? stateDir : `${stateDir} and ${datastore.name}`;
    redraw(
      this.element,
      element('h1', 'Runs'),
      element('p', { class: 'quiet' }, `in ${place}`),
      element('h2', 'In progress'),
      inProgress.length === 0
        ? withCommand('empty', 'No run is in progress. Start one: ', 'cqbatch run manifest.csv')
        : element('div', { id: 'in-progress' }, ...inProgress.map((run) => runRow(run, controls))),
      ended.length > 0 && [element('h2', 'Ended runs'), this.#ended.element],
      datastore && [element('h2', 'Workers'), workerTable(snapshot)],
      schedules.length > 0 && [
        element('h2', 'Schedules'),
        !hasDaemon && withCommand('note', noDaemon, 'cqbatch worker --coordinate'),
        scheduleTable(schedules),
      ],
    );
  }
}

function withCommand(name: string, text: string, command: string): HTMLElement {
  return element('p', { class: name }, text, element('code', command));
}

/** With the runs in progress: workers are found by the APIs of shared runs. */
type Workers = Pick<Snapshot, 'workers' | 'datastore' | 'runs'>;

export function workerTable({ workers, datastore, runs }: Workers): HTMLElement {
  const away = datastore?.away;
  if (workers.length === 0) {
    if (away) return element('p', { class: 'empty' }, 'Unknown until Redis is back.');
    const isMissed = runs.some((run) => isShared(run) && run.state !== 'paused');
    const none = isMissed
      ? 'No worker is running for the APIs of these runs. Start one: '
      : 'Workers are shown while rows of their API are called. Start one: ';
    return withCommand('empty', none, 'cqbatch worker');
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
      away === undefined ? 'now' : localTime(away.since),
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
      'manifest' in source ? source.manifest : `inbox ${source.inbox}`,
    ]),
  );
}

function timeList(times: readonly string[]): Child {
  if (times.length === 0) return 'never';
  const lines = times.map((time) => element('li', localTime(time)));
  return element('ul', { class: 'times' }, lines);
}

function lastText(last: NonNullable<ScheduleData['last']>): Child {
  const due = localTime(last.due);
  if (last.result !== 'began') return `${due} ${last.result} ${last.result === 'failed' ? last.message : ''}`;
  return [`${due} started`, last.runs.map((run) => [' ', element('a', { href: `#run=${run}` }, run)])];
}
