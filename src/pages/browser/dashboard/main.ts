import { count, exactDuration } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { countsDown } from '../../../engine/run/facts/progress-words.ts';
import { needsOf, sumOver, tabTitle } from '../../server/needs.ts';
import { asLastKnown, heartbeatMs, type Snapshot } from '../../server/page-data.ts';
import { type Child, element, redraw } from '../dom.ts';
import { DraftPage } from '../start/draft-page.ts';
import { EditPage } from '../start/edit-page.ts';
import { ControlDialog } from './control-dialog.ts';
import { OverviewPage } from './overview.ts';
import { Pointer } from './pointer.ts';
import { RunPage } from './run-page.ts';
import { noteElement } from './run-parts.ts';
import { tabIcon } from './tab-icon.ts';

/** After this long without an event, the connection counts as lost. */
const silenceMs = 3 * heartbeatMs;
/** The most warnings that are shown at once. Further ones are folded, to leave room for the runs. */
const mostWarnings = 3;

/**
 * An event stream brings what has changed, and the page redraws it. A hidden page has no stream: a browser keeps at most six connections to
 * a server, so the seventh tab would wait for the others.
 */
class Dashboard {
  readonly #main: HTMLElement;
  readonly #notes = element('div');
  readonly #place = element('div');
  readonly #connection = element('span', { role: 'status' });
  readonly #age = element('span', { class: 'quiet' });
  readonly #dialog = new ControlDialog(() => this.#draw());
  readonly #pointer = new Pointer(window);
  readonly #overview = new OverviewPage();
  /** The run whose page is open. */
  #run: string | undefined;
  #runPage: RunPage | undefined;
  /** The page of a run that is prepared, or of a list that is edited. */
  #preparing: DraftPage | EditPage | undefined;
  #events: EventSource | undefined;
  #lastEventAt = performance.now();
  /** What the server last sent. */
  #snapshot: Snapshot | undefined;
  #isStale = false;
  #couldControl = false;

  constructor(main: HTMLElement) {
    this.#main = main;
    const home = element('p', { class: 'brand' }, element('a', { href: '#', id: 'home' }, 'cqbatch'));
    const top = element('header', { class: 'top' }, home, element('p', this.#connection, this.#age));
    main.append(top, this.#notes, this.#place, this.#dialog.element);
    addEventListener('hashchange', () => this.listen());
    document.addEventListener('visibilitychange', () => this.listen());
    setInterval(() => this.#passSecond(), 1_000);
    setInterval(() => this.#breakSilence(), silenceMs);
    this.listen();
  }

  listen(): void {
    this.#events?.close();
    const [, page, id = ''] = /^#(run|draft|edit)=([\w-]+)(?:&|$)/.exec(location.hash) ?? [];
    const run = page === 'run' ? id : undefined;
    if (page === 'run' || this.#preparing?.id !== id) {
      this.#preparing?.close();
      this.#preparing = page === 'draft' ? new DraftPage(id) : page === 'edit' ? new EditPage(id) : undefined;
    }
    // The page of another run waits for its snapshot.
    if (run !== this.#run) this.#snapshot = undefined;
    this.#run = run;
    this.#events = undefined;
    if (document.hidden) return;
    const events = new EventSource(run === undefined ? 'events' : `events?run=${run}`);
    this.#events = events;
    for (const event of ['open', 'alive', 'snapshot', 'error'])
      events.addEventListener(event, () => {
        if (event !== 'error') this.#lastEventAt = performance.now();
        this.#showConnection();
      });
    events.addEventListener('snapshot', ({ data }) => {
      this.#snapshot = { ...this.#snapshot, ...(JSON.parse(data) as Snapshot) };
      this.#pointer.whenReleased(() => this.#draw());
    });
  }

  /** Draws the page each second while the words of a wait count down, and when its connection is lost or back. */
  #passSecond(): void {
    this.#showAge();
    const wasStale = this.#isStale;
    this.#isStale = this.#lastsSilent();
    const countsNow = !this.#isStale && this.#snapshot?.runs.some(countsDown);
    if (!document.hidden && (countsNow || wasStale !== this.#isStale))
      this.#pointer.whenReleased(() => this.#draw());
  }

  /** Whether the page no longer knows what happens. A connection that is opened again at once makes no difference. */
  #lastsSilent(): boolean {
    if (document.hidden || this.#snapshot === undefined) return false;
    const silentMs = performance.now() - this.#lastEventAt;
    return silentMs > (this.#events?.readyState === EventSource.OPEN ? silenceMs : heartbeatMs);
  }

  /** Reconnects after a silence. A browser does so by itself, but not in a silent network, or after an answer that is no event stream. */
  #breakSilence(): void {
    if (document.hidden || performance.now() - this.#lastEventAt < silenceMs) return;
    this.listen();
    this.#showConnection();
  }

  #showConnection(): void {
    const isLive = this.#events?.readyState === EventSource.OPEN;
    this.#connection.className = isLive ? 'quiet' : 'lost';
    const lost =
      'No connection to the dashboard. The page reconnects by itself. If the dashboard was stopped, type: cqbatch dashboard';
    redraw(this.#connection, isLive ? 'live' : lost);
    this.#showAge();
  }

  /** Shows the age of the last event in an element of its own, so that screen readers don't read it each second. */
  #showAge(): void {
    const seconds = Math.round((performance.now() - this.#lastEventAt) / 1_000);
    const age = exactDuration(seconds * 1_000);
    const since = this.#isStale ? ` Last known state, ${age} old.` : `, updated ${age} ago`;
    this.#age.textContent = seconds === 0 ? '' : since;
  }

  #draw(): void {
    if (this.#snapshot === undefined) return;
    const run = this.#run;
    const snapshot = this.#isStale ? asLastKnown(this.#snapshot) : this.#snapshot;
    this.#main.classList.toggle('stale', this.#isStale);
    this.#couldControl ||= snapshot.mayControl;
    redraw(this.#notes, notes(snapshot, this.#couldControl && !this.#snapshot.mayControl));
    const before = this.#runPage?.id;
    if (run !== before) {
      this.#runPage?.close();
      this.#runPage = run === undefined ? undefined : new RunPage(run, this.#pointer, () => this.#draw());
    }
    const { activeElement: focused } = document;
    const page = this.#preparing ?? this.#runPage ?? this.#overview;
    if ('draw' in page) page.draw(snapshot, snapshot.mayControl ? this.#dialog : undefined);
    redraw(this.#place, page.element);
    // The focused element is gone: the reader has followed a link, or the run of a focused button has ended.
    const isLost = document.activeElement === document.body;
    if (isLost && focused instanceof HTMLElement && !focused.isConnected) {
      const id = run === undefined ? `run-${focused.dataset['run'] ?? before}` : 'back';
      (document.getElementById(id) ?? document.getElementById('home'))?.focus();
    }
    this.#dialog.update(snapshot);
    this.#main.setAttribute('aria-busy', 'false');
    this.#showInTab(snapshot, run);
  }

  #showInTab(snapshot: Snapshot, run: string | undefined): void {
    const needs = needsOf(snapshot);
    document.title = this.#isStale ? `? ${tabTitle(snapshot, [], run)}` : tabTitle(snapshot, needs, run);
    const [done, rows] = [sumOver(snapshot.runs, 'done'), sumOver(snapshot.runs, 'rows')];
    const signs = { done: rows === 0 ? undefined : done / rows, needsPerson: needs.length > 0 };
    const icon = tabIcon({ ...signs, isStale: this.#isStale });
    const link = document.querySelector('link[rel=icon]');
    if (link?.getAttribute('href') !== icon) link?.setAttribute('href', icon);
  }
}

function notes({ datastore, warnings }: Snapshot, hasLostControl: boolean): Child {
  const { why, since = '' } = datastore?.away ?? {};
  const away = `${why}. Start Redis or repair the network: this page continues by itself. Runs and workers of other machines are shown as of ${localTime(since)}.`;
  const lost =
    'You can no longer control runs here: the dashboard was restarted. Open the new address that it printed.';
  const damaged = warnings.map(noteElement);
  const summary = element('summary', `${count(damaged.length)} files are damaged or unreadable`);
  const folded = () => element('details', { class: 'note', id: 'warnings' }, summary, damaged);
  return [
    why !== undefined && noteElement(away),
    hasLostControl && noteElement(lost),
    damaged.length <= mostWarnings ? damaged : folded(),
  ];
}

const main = document.getElementById('page');
if (main !== null) new Dashboard(main);
