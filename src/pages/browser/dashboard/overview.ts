import { count } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { apiText } from '../../../domain/terms.ts';
import { isShared, needsPerson, type ScheduleData, type Snapshot } from '../../server/page-data.ts';
import { type Child, element, redraw, tableElement } from '../dom.ts';
import type { ControlDialog } from './control-dialog.ts';
import { EndedRuns } from './ended-runs.ts';
import { runRow } from './run-parts.ts';

/** The page of all runs, workers and schedules. */
export class OverviewPage {
  readonly element = element('div', { class: 'overview' });
  readonly #ended = new EndedRuns();

  /** Draws the page. @param controls undefined when the reader may not control runs */
  draw(snapshot: Snapshot, controls: ControlDialog | undefined): void {
    const { runs, ended, schedules, hasDaemon, stateDir, datastore } = snapshot;
    const inProgress = runs.toSorted((a, b) => Number(needsPerson(b)) - Number(needsPerson(a)));
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
      workersOf(snapshot),
      schedules.length > 0 && [
        element('h2', 'Schedules'),
        !hasDaemon &&
          withCommand('note', 'No daemon is running to start them. Type: ', 'cqbatch worker --coordinate'),
        scheduleTable(schedules),
      ],
    );
  }
}

function withCommand(name: string, text: string, command: string): HTMLElement {
  return element('p', { class: name }, text, element('code', command));
}

/** The table of workers. Empty if there are none and no run needs one. `runs` are those in progress that the workers may call. */
export function workersOf(of: Pick<Snapshot, 'workers' | 'datastore' | 'runs'>): Child {
  const { workers, datastore, runs } = of;
  const isNeeded = runs.some((run) => isShared(run) && run.state !== 'paused');
  if (datastore === undefined || (workers.length === 0 && !isNeeded)) return false;
  const missing = datastore.away
    ? element('p', { class: 'empty' }, 'Unknown until Redis is back.')
    : withCommand('empty', 'No worker is running for the APIs of these runs. Start one: ', 'cqbatch worker');
  const table = tableElement(
    'Workers',
    ['Worker', 'API', 'Calls in flight', 'Rows finished', 'Version'],
    workers.map((worker) => [
      `${worker.pid} on ${worker.host}`,
      apiText(worker),
      `${count(worker.active)} of ${count(worker.concurrency)}`,
      count(worker.finished),
      worker.version,
    ]),
  );
  return [element('h2', 'Workers'), workers.length === 0 ? missing : table];
}

function scheduleTable(schedules: readonly ScheduleData[]): HTMLElement {
  return tableElement(
    'Schedules',
    ['Schedule', 'Next (your time)', 'When', 'Last', 'Source'],
    schedules.map(({ name, cron, tz, paused, next, last, source }) => [
      name,
      paused ? 'paused' : timeList(next),
      `${cron} (${tz})`,
      last === undefined ? 'not due yet' : lastRunText(last),
      'manifest' in source ? source.manifest : `inbox ${source.inbox}`,
    ]),
  );
}

function timeList(times: readonly string[]): Child {
  if (times.length === 0) return 'never';
  const lines = times.map((time) => element('li', localTime(time)));
  return element('ul', { class: 'times' }, lines);
}

function lastRunText(last: NonNullable<ScheduleData['last']>): Child {
  const due = localTime(last.due);
  if (last.result !== 'began') return `${due} ${last.result} ${last.result === 'failed' ? last.message : ''}`;
  return [`${due} started`, last.runs.map((run) => [' ', element('a', { href: `#run=${run}` }, run)])];
}
