import { apiText } from '../../../domain/terms.ts';
import { needsOf } from '../../server/needs.ts';
import { needsPerson, type Snapshot } from '../../server/page-data.ts';
import { element, redraw } from '../dom.ts';
import { NewRun } from '../start/new-run.ts';
import type { ControlDialog } from './control-dialog.ts';
import { dayStrip } from './overview/day-strip.ts';
import { EndedRuns } from './overview/ended-runs.ts';
import { needsSection } from './overview/needs-cards.ts';
import { scheduleTable } from './overview/schedule-table.ts';
import { workersOf } from './overview/worker-table.ts';
import { commandNote, runRow } from './run-parts.ts';

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
    const told = {
      isOfOneApi: new Set(all.map(apiText)).size <= 1,
      isDatastoreAway: datastore?.away !== undefined,
    };
    const place = datastore === undefined ? stateDir : `${stateDir} and ${datastore.name}`;
    redraw(
      this.element,
      element('h1', 'Runs'),
      element('p', { class: 'quiet' }, `in ${place}`),
      needsSection(needs, controls),
      snapshot.drafts !== undefined && this.#newRun.element,
      element('h2', 'In progress'),
      inProgress.length === 0
        ? snapshot.drafts === undefined
          ? commandNote('No run is in progress. Start one: ', 'cqbatch run manifest.csv')
          : element('p', { class: 'empty' }, 'No run is in progress.')
        : element('div', { id: 'in-progress' }, ...inProgress.map((run) => runRow(run, controls, told))),
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
