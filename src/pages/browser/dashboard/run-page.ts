import { localTime } from '../../../base/text/local-time.ts';
import { apiText } from '../../../domain/terms.ts';
import type { PageContent, PageData } from '../../../engine/report/html/page-data.ts';
import { reportHead } from '../../../engine/report/html/report-head.ts';
import { type RunData, type Snapshot, stateOf } from '../../server/page-data.ts';
import { drawn, element, redraw, tableElement } from '../dom.ts';
import { ReportView } from '../report-view.ts';
import { Rows } from '../rows.ts';
import { workerTable } from './overview.ts';
import type { Pointer } from './pointer.ts';
import { buttonsOf, type Controls, progressElements, runLink, stateText } from './run-parts.ts';

/** The page reads during at most a tenth of the time. */
const restFactor = 9;
const leastRestMs = 500;
/** The delay before a failed read is repeated. */
const patienceMs = 5_000;

/** A run: its progress, and its report so far, which the page reads again when the run has changed. */
export class RunPage {
  readonly id: string;
  readonly element: HTMLElement;
  readonly #pointer: Pointer;
  readonly #gone = new AbortController();
  readonly #head = element('div');
  readonly #trouble = element('p', { class: 'note', role: 'status', hidden: true });
  #drawn: Parameters<RunPage['draw']> | undefined;
  #data: PageData | undefined;
  #view: ReportView | undefined;
  readonly #workers = element('div');
  readonly #history = element('div');
  readonly #states = element('details', element('summary', 'History'), this.#history);
  /** The run as JSON, now and when the page last requested the report. */
  #latestState = '';
  #requestedState = '';
  #isEnded = false;
  #isReading = false;
  #restUntil = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, pointer: Pointer) {
    this.id = id;
    this.#pointer = pointer;
    this.#states.hidden = true;
    this.element = element('div', this.#head, this.#states, this.#workers, this.#trouble);
  }

  draw(snapshot: Snapshot, controls: Controls | undefined): void {
    this.#drawn = [snapshot, controls];
    const { runs, run: details, workers, datastore } = snapshot;
    const run = runs.find(({ id }) => id === this.id);
    const back = element('a', { href: '#', id: 'back' }, 'All runs');
    const title = element('h1', `Run ${this.id}`);
    if (run === undefined) {
      redraw(this.#head, back, title, note('Neither the state folder nor Redis has a run with this id.'));
      return;
    }
    const elsewhere = `The rows and the report of this run are in its state folder on ${run.coordinator?.host ?? 'another machine'}.`;
    const retries = runs.filter(({ retryOf }) => retryOf === this.id).map(({ id }) => id);
    redraw(
      this.#head,
      element('p', { id: 'trail' }, back, ' / ', this.id, ' ', stateText(stateOf(run))),
      this.#data === undefined ? title : drawn(reportHead(withNews(this.#data, run))),
      !details && note(elsewhere),
      run.retryOf !== undefined && element('p', 'This run is a retry of ', runLink(run.retryOf), '.'),
      retries.length > 0 && element('p', 'Retried by', ...retries.map((id) => [' ', runLink(id)])),
      details?.hasReport && reportLink(this.id, details.reportedRetries),
      progressElements(run, this.#data !== undefined),
      buttonsOf(run, controls),
    );
    const workersOfRun = workers.filter((worker) => apiText(worker) === apiText(run));
    const ofRun = { datastore, workers: workersOfRun, runs: [run] };
    const areShown = datastore !== undefined && run.isShared && !run.ended;
    redraw(this.#workers, areShown && [element('h2', 'Workers'), workerTable(ofRun)]);
    if (!details) return;
    this.#states.hidden = false;
    const history = details.states.map(({ at, state, by, reason }) => [localTime(at), state, by, reason]);
    redraw(this.#history, tableElement('History', ['Time', 'State', 'By', 'Reason'], history));
    this.#latestState = JSON.stringify([run, details]);
    this.element.classList.toggle('in-progress', !run.ended);
    // The final report is read at once.
    if (run.ended && !this.#isEnded) this.#restUntil = 0;
    this.#isEnded = run.ended;
    this.#readWhenRested();
  }

  close(): void {
    this.#gone.abort();
    clearTimeout(this.#rest);
  }

  #readWhenRested(): void {
    clearTimeout(this.#rest);
    if (this.#requestedState === this.#latestState || this.#isReading || this.#gone.signal.aborted) return;
    const restMs = this.#restUntil - performance.now();
    if (restMs > 0) this.#rest = setTimeout(() => void this.#read(), restMs);
    else void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#requestedState = this.#latestState;
    const start = performance.now();
    const isRead = await this.#readOnce();
    const now = performance.now();
    this.#restUntil = now + (isRead ? Math.max(leastRestMs, restFactor * (now - start)) : patienceMs);
    this.#isReading = false;
    this.#readWhenRested();
  }

  async #readOnce(): Promise<boolean> {
    try {
      const { signal } = this.#gone;
      const answer = await fetch(`/runs/${encodeURIComponent(this.id)}/report.json`, { signal });
      const content = (await answer.json()) as PageContent & { readonly message?: string };
      if (!answer.ok) throw new Error(content.message);
      const rows = await Rows.read(content);
      this.#pointer.whenReleased(() => this.#show(content.data, rows));
      return true;
    } catch (error) {
      this.#requestedState = '';
      this.#trouble.hidden = false;
      this.#trouble.textContent = `Can't show the rows: ${(error as Error).message}`;
      return false;
    }
  }

  #show(data: PageData, rows: Rows): void {
    this.#trouble.hidden = true;
    this.#data = data;
    if (this.#view === undefined) {
      this.#view = new ReportView(data, rows, this.#gone.signal);
      this.element.append(this.#view.element);
      this.#view.followAddress();
    } else this.#view.show(data, rows);
    if (this.#drawn !== undefined) this.draw(...this.#drawn);
  }
}

function note(text: string): HTMLElement {
  return element('p', { class: 'note' }, text);
}

/** The latest report, with what is known of the run by now. */
function withNews(data: PageData, { state, ended, counts }: RunData): PageData {
  if (ended) return data;
  const { reason, ...others } = data.run;
  // The reason is that of the state in the report.
  const run = state === data.run.state ? data.run : others;
  return {
    ...data,
    run: { ...run, state, phase: 'in progress' },
    summary: { ...data.summary, outcomes: counts },
  };
}

function reportLink(id: string, retries: readonly string[]): HTMLElement {
  const href = `/runs/${encodeURIComponent(id)}/report.html`;
  const what =
    retries.length === 0
      ? ': this report as a file that you can send.'
      : `: a file that you can send, with the results of the retries ${retries.join(', ')}. This page has the results of this run only.`;
  return element('p', element('a', { href, id: 'report' }, 'report.html'), what);
}
