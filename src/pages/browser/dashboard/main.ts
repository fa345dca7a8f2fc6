import { count, exactDuration } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { type ControlName, heartbeatMs, type RunData, type Snapshot } from '../../server/page-data.ts';
import { type Child, element, redraw } from '../dom.ts';
import { ControlDialog } from './control-dialog.ts';
import { OverviewPage } from './overview.ts';
import { Pointer } from './pointer.ts';
import { RunPage } from './run-page.ts';
import type { Controls } from './run-parts.ts';

/** After this long without an event, the connection counts as lost. */
const silenceMs = 3 * heartbeatMs;
/** Further warnings are folded, to leave room for the runs. */
const mostWarnings = 3;

/** After this long without an effect, the reader can ask again. */
const longestAskedMs = 15_000;

/** An event stream brings snapshots, and the page redraws what has changed. */
class Dashboard {
  readonly #main: HTMLElement;
  readonly #notes = element('div');
  readonly #place = element('div');
  readonly #connection = element('span', { role: 'status' });
  readonly #age = element('span', { class: 'quiet' });
  readonly #dialog = new ControlDialog((run, control) => {
    this.#asked.set(run.id, { control, state: run.state, at: performance.now() });
    if (this.#snapshot !== undefined) this.#draw(this.#snapshot);
  });
  /** What the reader has asked for, by run. */
  readonly #asked = new Map<string, Pick<RunData, 'state'> & { control: ControlName; at: number }>();
  readonly #pointer = new Pointer(window);
  #events: EventSource | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #couldControl = false;
  #snapshot: Snapshot | undefined;
  #runPage: RunPage | undefined;
  readonly #overview = new OverviewPage();
  /** Ended runs that the server sends only when they have changed. */
  #older: readonly RunData[] = [];
  #lastEventAt = performance.now();

  constructor(main: HTMLElement) {
    this.#main = main;
    const home = element('p', { class: 'brand' }, element('a', { href: '#', id: 'home' }, 'cqbatch'));
    const top = element('header', { class: 'top' }, home, element('p', this.#connection, this.#age));
    main.append(top, this.#notes, this.#place, this.#dialog.element);
    addEventListener('hashchange', () => this.listen());
    setInterval(() => this.#showAge(), 1_000);
    this.listen();
  }

  listen(): void {
    this.#events?.close();
    const run = this.#run;
    const events = new EventSource(run === undefined ? '/events' : `/events?run=${run}`);
    this.#events = events;
    for (const event of ['open', 'alive']) events.addEventListener(event, () => this.#recordEvent());
    events.addEventListener('error', () => {
      this.#showConnection(false);
      // In every other state, the browser reconnects by itself.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), 5_000);
    });
    events.addEventListener('older', ({ data }) => {
      this.#older = JSON.parse(data) as readonly RunData[];
    });
    events.addEventListener('snapshot', ({ data }) => {
      this.#recordEvent();
      const { runs, ...others } = JSON.parse(data) as Snapshot;
      const snapshot = { ...others, runs: [...runs, ...this.#older] };
      this.#snapshot = snapshot;
      this.#couldControl ||= snapshot.mayControl;
      this.#pointer.whenReleased(() => this.#draw(snapshot));
    });
  }

  /** The run whose page is open. */
  get #run(): string | undefined {
    return /^#run=([\w-]+)(?:&|$)/.exec(location.hash)?.[1];
  }

  /** Reconnects when the server falls silent. */
  #recordEvent(): void {
    this.#lastEventAt = performance.now();
    this.#showConnection(true);
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#showConnection(false);
      this.listen();
    }, silenceMs);
  }

  #showConnection(isLive: boolean): void {
    this.#connection.className = isLive ? 'quiet' : 'lost';
    this.#connection.textContent = isLive
      ? 'live'
      : 'No connection to the dashboard: this page is out of date and reconnects by itself. If it was stopped, type: cqbatch dashboard';
    this.#showAge();
  }

  /** In an element of its own, so that screen readers don't read the age each second. */
  #showAge(): void {
    const seconds = Math.round((performance.now() - this.#lastEventAt) / 1_000);
    this.#age.textContent = seconds === 0 ? '' : `, updated ${exactDuration(seconds * 1_000)} ago`;
  }

  #draw(snapshot: Snapshot): void {
    const run = this.#run;
    // The reader has opened the run after this snapshot was requested.
    if (run !== undefined && snapshot.run === undefined) return;
    redraw(this.#notes, notes(snapshot, this.#couldControl && !snapshot.mayControl));
    if (run !== this.#runPage?.id) {
      this.#runPage?.close();
      this.#runPage = run === undefined ? undefined : new RunPage(run, this.#pointer);
    }
    const controls = snapshot.mayControl ? this.#controls : undefined;
    const focused = this.#place.contains(document.activeElement) ? document.activeElement : null;
    const page = this.#runPage ?? this.#overview;
    page.draw(snapshot, controls);
    redraw(this.#place, page.element);
    // The run of the focused button has ended. On its own page, the focus goes to the link to all runs.
    if (focused !== null && document.activeElement === document.body) {
      const [, id = ''] = /^(?:pause|cancel|set-\w+)-(.+)$/.exec(focused.id) ?? [];
      document.getElementById(this.#runPage === undefined ? `run-${id}` : 'back')?.focus();
    }
    this.#dialog.update(snapshot.runs);
    this.#main.setAttribute('aria-busy', 'false');
    document.title = run === undefined ? titleOf(snapshot) : `cqbatch: ${run}`;
  }

  readonly #controls: Controls = {
    ask: (id, control) => {
      const run = this.#snapshot?.runs.find((each) => each.id === id);
      if (run === undefined || this.#controls.asked(run) === control) return;
      this.#dialog.ask(run, control, this.#snapshot?.requireReason === true);
    },
    asked: ({ id, state }) => {
      const asked = this.#asked.get(id);
      const isPending = asked?.state === state && performance.now() - asked.at < longestAskedMs;
      return isPending ? asked.control : undefined;
    },
  };
}

function titleOf({ runs }: Snapshot): string {
  const inProgress = runs.filter(({ ended }) => !ended).length;
  return inProgress === 0 ? 'cqbatch' : `cqbatch: ${inProgress} in progress`;
}

function notes({ datastore, warnings }: Snapshot, hasLostControl: boolean): Child {
  const { trouble, since } = datastore ?? {};
  const away = `${trouble}. Start Redis or repair the network: this page continues by itself. Runs and workers of other machines are shown as of ${localTime(since ?? '')}.`;
  const lost =
    'You can no longer control runs here: the dashboard was restarted. Open the new address that it printed.';
  const note = (text: string) => element('p', { class: 'note', role: 'status' }, text);
  const damaged = warnings.map(note);
  const summary = element('summary', `${count(damaged.length)} files are damaged or unreadable`);
  const folded = () => element('details', { class: 'note', id: 'warnings' }, summary, damaged);
  return [
    trouble !== undefined && note(away),
    hasLostControl && note(lost),
    damaged.length <= mostWarnings ? damaged : folded(),
  ];
}

const main = document.getElementById('page');
if (main !== null) new Dashboard(main);
