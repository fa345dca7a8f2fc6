import { count } from '../../../base/text/format.ts';
import { apiText } from '../../../domain/terms.ts';
import { needsOf } from '../../server/needs.ts';
import { isShared, needsPerson, type Snapshot } from '../../server/page-data.ts';
import { type Child, element, redraw, tableElement } from '../dom.ts';
import { NewRun } from '../start/new-run.ts';
import type { ControlDialog } from './control-dialog.ts';
import { dayStrip } from './day-strip.ts';
import { EndedRuns } from './ended-runs.ts';
import { needsSection } from './needs-cards.ts';
import { runRow } from './run-parts.ts';
import { scheduleTable } from './schedule-table.ts';

/** The page of all runs, workers and schedules. */
export class OverviewPage {
  readonly element = element('div', { class: 'overview' });
  readonly #newRun = new NewRun();
  readonly #ended = new EndedRuns();

  /** Draws the page. @param controls undefined when the reader may not control runs */
  draw(snapshot: Snapshot, controls: ControlDialog | undefined): void {
    const { runs, ended, schedules, stateDir, datastore } = snapshot;
    const needs = needsOf(snapshot);
    const inProgress = runs.toSorted((a, b) => Number(needsPerson(b)) - Number(needsPerson(a)));
    if (ended.length > 0) this.#ended.show(snapshot);
    if (snapshot.drafts !== undefined) this.#newRun.draw(snapshot);
    const all = [...runs, ...ended];
    const isOfOneApi = new Set(all.map(apiText)).size <= 1;
    const place = datastore === undefined ? stateDir : `${stateDir} and ${datastore.name}`;
    redraw(
      this.element,
      element('h1', 'Runs'),
      element('p', { class: 'quiet' }, `in ${place}`),
      needsSection(needs, controls),
      snapshot.drafts !== undefined && this.#newRun.element,
      element('h2', 'In progress'),
      inProgress.length === 0
        ? withCommand('empty', 'No run is in progress. Start one: ', 'cqbatch run manifest.csv')
        : element(
            'div',
            { id: 'in-progress' },
            ...inProgress.map((run) => runRow(run, controls, isOfOneApi)),
          ),
      dayStrip(all),
      ended.length > 0 && [element('h2', 'Ended runs'), this.#ended.element],
      workersOf(snapshot),
      schedules.length > 0 && [
        element('h2', 'Schedules'),
        scheduleTable(schedules, (id) => all.find((run) => run.id === id)),
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
