import { localTime } from '../../../base/text/local-time.ts';
import { actorText, apiText } from '../../../domain/terms.ts';
import { factList } from '../../../engine/report/html/markup.ts';
import type { PageContent, PageData } from '../../../engine/report/html/page-data.ts';
import { reportHead } from '../../../engine/report/html/report-head.ts';
import { endInWords } from '../../../engine/run/record/run-outcome.ts';
import { isShared, type RunData, type Snapshot, stateOf } from '../../server/page-data.ts';
import { type Child, drawn, element, redraw, tableElement } from '../dom.ts';
import { ReportView } from '../report-view.ts';
import { Rows } from '../rows.ts';
import type { ControlDialog } from './control-dialog.ts';
import { workerTable } from './overview.ts';
import type { Pointer } from './pointer.ts';
import { buttonsOf, progressElements, runLink, stateText } from './run-parts.ts';

/** The page reads during at most a tenth of the time. */
const restFactor = 9;
const leastRestMs = 500;
/** The delay before a failed read is repeated. */
const patienceMs = 5_000;
/** How often the page looks for a change to read. */
const lookMs = 100;

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
  readonly #states = element('details', { hidden: true }, element('summary', 'History'), this.#history);
  /** As JSON, once the state folder has the run. */
  #latest = { json: '', ended: false };

  constructor(id: string, pointer: Pointer) {
    this.id = id;
    this.#pointer = pointer;
    this.element = element('div', this.#head, this.#states, this.#workers, this.#trouble);
    void this.#follow();
  }

  /** @param controls undefined when the reader may not control runs */
  draw(snapshot: Snapshot, controls: ControlDialog | undefined): void {
    this.#drawn = [snapshot, controls];
    const { report, workers, datastore } = snapshot;
    const runs = [...snapshot.runs, ...snapshot.ended];
    const run = runs.find(({ id }) => id === this.id);
    const back = element('a', { href: '#', id: 'back' }, 'All runs');
    if (run === undefined) {
      const missing = note('Neither the state folder nor Redis has a run with this id.');
      redraw(this.#head, back, element('h1', `Run ${this.id}`), missing);
      return;
    }
    const { local, ended } = run;
    const elsewhere = `The rows and the report of this run are in its state folder on ${run.coordinator?.host ?? 'another machine'}.`;
    const retries = runs.filter((each) => each.local?.retryOf === this.id).map(({ id }) => id);
    redraw(
      this.#head,
      element('p', { id: 'trail' }, back, ' / ', this.id, ' ', stateText(stateOf(run))),
      this.#data === undefined ? shortHead(run) : drawn(reportHead(withNews(this.#data, run))),
      local === undefined && note(elsewhere),
      local?.retryOf !== undefined && element('p', 'This run is a retry of ', runLink(local.retryOf), '.'),
      retries.length > 0 && element('p', 'Retried by', ...retries.map((id) => [' ', runLink(id)])),
      report != null && reportLink(this.id, report),
      progressElements(run, this.#data !== undefined),
      buttonsOf(run, controls),
    );
    const workersOfRun = workers.filter((worker) => apiText(worker) === apiText(run));
    const ofRun = { datastore, workers: workersOfRun, runs: [run] };
    const areShown = datastore !== undefined && isShared(run) && !ended;
    redraw(this.#workers, areShown && [element('h2', 'Workers'), workerTable(ofRun)]);
    if (local === undefined) return;
    this.#states.hidden = false;
    redraw(this.#history, historyTable(local.states));
    this.element.classList.toggle('in-progress', !ended);
    this.#latest = { json: JSON.stringify([run, report]), ended };
  }

  close(): void {
    this.#gone.abort();
  }

  /** Reads the report when the run has changed, and at once when it has ended. */
  async #follow(): Promise<void> {
    let read = { json: '', ended: false };
    let restUntil = 0;
    for (; !this.#gone.signal.aborted; await new Promise((resolve) => setTimeout(resolve, lookMs))) {
      const start = performance.now();
      const { json, ended } = this.#latest;
      if (json === read.json || (start < restUntil && ended === read.ended)) continue;
      const isRead = await this.#read();
      read = { json: isRead ? json : '', ended };
      const now = performance.now();
      restUntil = now + (isRead ? Math.max(leastRestMs, restFactor * (now - start)) : patienceMs);
    }
  }

  async #read(): Promise<boolean> {
    try {
      const { signal } = this.#gone;
      const answer = await fetch(`/runs/${encodeURIComponent(this.id)}/report.json`, { signal });
      const content = (await answer.json()) as PageContent & { readonly message?: string };
      if (!answer.ok) throw new Error(content.message);
      const rows = await Rows.read(content);
      this.#pointer.whenReleased(() => this.#show(content.data, rows));
      return true;
    } catch (error) {
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

/** Without the report. */
function shortHead(run: RunData): Child {
  const { id, manifest, startedAt } = run;
  const started = startedAt === undefined ? '' : localTime(startedAt);
  const facts = [
    ['Manifest', manifest],
    ['API', apiText(run)],
    ['Started', started],
  ] as const;
  return [element('h1', `Run ${id}`), drawn(factList(facts))];
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

function historyTable(states: NonNullable<RunData['local']>['states']): HTMLElement {
  const lines = states.map(({ at, by, reason, ...end }) => [
    localTime(at),
    endInWords(end),
    by && actorText(by),
    reason,
  ]);
  return tableElement('History', ['Time', 'State', 'By', 'Reason'], lines);
}
