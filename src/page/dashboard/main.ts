import {
  heartbeatMs,
  type RunData,
  type ScheduleData,
  type Snapshot,
  type WorkerData,
} from '../../dashboard/page-data.ts';
import { localTime } from '../../text/local-time.ts';
import { count } from '../../text/quantities.ts';
import { type Child, element, redraw, tableElement } from '../dom.ts';
import { ControlDialog } from './control-dialog.ts';
import { Pointer } from './pointer.ts';
import { RunPage } from './run-page.ts';
import { addressOf, type OnControl, runCard, stateText } from './run-parts.ts';

/** After this long without an event, the connection counts as lost. */
const silenceMs = 3 * heartbeatMs;

/** The page. An event stream brings snapshots, and the page redraws what has changed. */
class Dashboard {
  readonly #main: HTMLElement;
  readonly #notes = element('div');
  readonly #place = element('div');
  readonly #connection = element('p', { role: 'status' });
  readonly #dialog = new ControlDialog();
  readonly #pointer = new Pointer(window);
  #events: EventSource | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  /** Whether this page was ever allowed to control runs. */
  #couldControl = false;
  #snapshot: Snapshot | undefined;
  #runPage: RunPage | undefined;
  /** The cards of the runs in progress, by run. */
  #cards = new Map<string, HTMLElement>();

  constructor(main: HTMLElement) {
    this.#main = main;
    const home = element('p', element('a', { href: '#', id: 'home' }, 'cqbatch'));
    const top = element('header', { class: 'top' }, home, this.#connection);
    main.append(top, this.#notes, this.#place, this.#dialog.element);
    addEventListener('hashchange', () => this.listen());
    this.listen();
  }

  listen(): void {
    this.#events?.close();
    const run = this.#run;
    const events = new EventSource(run === undefined ? '/events' : `/events?run=${run}`);
    this.#events = events;
    for (const event of ['open', 'alive']) events.addEventListener(event, () => this.#hear());
    events.addEventListener('error', () => {
      this.#tellConnection(false);
      // Otherwise the browser reconnects by itself.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), 5_000);
    });
    events.addEventListener('snapshot', ({ data }) => {
      this.#hear();
      const snapshot = JSON.parse(data) as Snapshot;
      this.#snapshot = snapshot;
      this.#couldControl ||= snapshot.mayControl;
      this.#pointer.whenReleased(() => this.#draw(snapshot));
    });
  }

  /** The id of the run whose page is open. */
  get #run(): string | undefined {
    return /^#run=([\w-]+)$/.exec(location.hash)?.[1];
  }

  /** Notes that the server is there, and reconnects when it falls silent. */
  #hear(): void {
    this.#tellConnection(true);
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#tellConnection(false);
      this.listen();
    }, silenceMs);
  }

  #tellConnection(isLive: boolean): void {
    this.#connection.className = isLive ? 'quiet' : 'lost';
    this.#connection.textContent = isLive
      ? 'live'
      : 'No connection to the dashboard: this page is out of date. Reconnecting…';
  }

  #draw(snapshot: Snapshot): void {
    const run = this.#run;
    // This snapshot was requested before the reader opened the run.
    if (run !== undefined && snapshot.run === undefined) return;
    redraw(this.#notes, notes(snapshot, this.#couldControl && !snapshot.mayControl));
    if (run !== this.#runPage?.id) {
      this.#runPage?.close();
      this.#runPage = run === undefined ? undefined : new RunPage(run, this.#pointer);
    }
    this.#runPage?.draw(snapshot, this.#onControl(snapshot));
    redraw(this.#place, this.#runPage?.element ?? this.#overview(snapshot));
    this.#main.setAttribute('aria-busy', 'false');
    document.title = run === undefined ? titleOf(snapshot) : `cqbatch: ${run}`;
  }

  #onControl({ mayControl }: Snapshot): OnControl | undefined {
    if (!mayControl) return undefined;
    return (id, control) => {
      const run = this.#snapshot?.runs.find((each) => each.id === id);
      if (run !== undefined) this.#dialog.ask(run, control);
    };
  }

  #overview(snapshot: Snapshot): Child {
    const { runs, workers, schedules, hasDaemon, stateDir, datastore } = snapshot;
    const inProgress = runs.filter(({ ended }) => !ended);
    const ended = runs.filter((run) => run.ended);
    this.#cards = new Map(
      inProgress.map((run) => {
        const card = this.#cards.get(run.id) ?? element('article', { class: 'card' });
        redraw(card, runCard(run, this.#onControl(snapshot)));
        return [run.id, card];
      }),
    );
    const place = datastore === undefined ? stateDir : `${stateDir} and ${datastore.name}`;
    const noDaemon = 'No daemon is running: start "cqbatch worker --coordinate".';
    return [
      element('h1', 'Runs'),
      element('p', { class: 'quiet' }, `in ${place}`),
      inProgress.length === 0 && element('p', 'No run is in progress.'),
      ...this.#cards.values(),
      ended.length > 0 && [element('h2', 'Ended runs'), endedTable(ended)],
      datastore !== undefined && [element('h2', 'Workers'), workerTable(workers)],
      schedules.length > 0 && [
        element('h2', 'Schedules'),
        !hasDaemon && element('p', { class: 'note' }, noDaemon),
        scheduleTable(schedules),
      ],
    ];
  }
}

function titleOf({ runs }: Snapshot): string {
  const inProgress = runs.filter(({ ended }) => !ended).length;
  return inProgress === 0 ? 'cqbatch' : `cqbatch: ${inProgress} in progress`;
}

/** @param hasLostControl whether the reader could control runs before, but not now */
function notes({ datastore, warnings }: Snapshot, hasLostControl: boolean): Child {
  const { trouble, since } = datastore ?? {};
  const away = `${trouble}. Runs and workers of other machines are shown as of ${localTime(since ?? '')}.`;
  const lost =
    'You can no longer control runs here: the dashboard was restarted. Open the new address that it printed.';
  const texts = [trouble !== undefined && away, hasLostControl && lost, ...warnings];
  return texts.map((text) => text && element('p', { class: 'note', role: 'status' }, text));
}

function endedTable(runs: readonly RunData[]): HTMLElement {
  return tableElement(
    'Ended runs',
    ['Run', 'State', 'Started', 'Succeeded', 'Failed or invalid', 'Manifest', 'Machine'],
    runs.map((run) => [
      element('a', { href: addressOf(run.id), id: `run-${run.id}` }, run.id),
      stateText(run),
      run.startedAt === undefined ? '' : localTime(run.startedAt),
      `${count(run.counts.succeeded)} of ${count(run.rows)}`,
      count(run.counts.failed + run.counts.invalid),
      run.manifest,
      run.isElsewhere ? run.coordinator?.host : 'this machine',
    ]),
  );
}

function workerTable(workers: readonly WorkerData[]): HTMLElement {
  if (workers.length === 0)
    return element('p', { class: 'quiet' }, 'No worker is running for the APIs of these runs.');
  return tableElement(
    'Workers',
    ['Worker', 'API', 'Calls in flight', 'Share of calls', 'Rows finished', 'Version', 'Last seen'],
    workers.map((worker) => [
      `${worker.pid} on ${worker.host}`,
      worker.baseUrl,
      `${count(worker.active)} of ${count(worker.concurrency)}`,
      worker.share === undefined ? '' : `${Math.round(worker.share * 100)} %`,
      count(worker.finished),
      worker.version,
      worker.lastSeenAt === undefined ? 'now' : localTime(worker.lastSeenAt),
    ]),
  );
}

function scheduleTable(schedules: readonly ScheduleData[]): HTMLElement {
  return tableElement(
    'Schedules',
    ['Schedule', 'When', 'Next (your time)', 'Last', 'Source'],
    schedules.map(({ name, cron, tz, paused, next, last, source }) => [
      name,
      `${cron} (${tz})`,
      paused ? 'paused' : next.map((time) => localTime(time)).join(', ') || 'never',
      last === undefined
        ? 'not due yet'
        : [
            localTime(last.due),
            last.came === 'began' ? 'started' : last.came,
            ...last.runs,
            last.message ?? '',
          ]
            .join(' ')
            .trim(),
      source,
    ]),
  );
}

const main = document.getElementById('page');
if (main !== null) new Dashboard(main);
