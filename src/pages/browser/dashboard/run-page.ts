import { localTime } from '../../../base/text/local-time.ts';
import { actorText, apiText } from '../../../domain/terms.ts';
import type { PageData } from '../../../engine/report/html/page-data.ts';
import { reportHead, summaryToCopy } from '../../../engine/report/html/report-head.ts';
import { endInWords } from '../../../engine/run/record/ending.ts';
import {
  isShared,
  type LiveReport,
  type RunData,
  type Snapshot,
  stateOf,
  withCountsOf,
} from '../../server/page-data.ts';
import { button, copyClicked, drawnMarkup, element, redraw, tableElement } from '../dom.ts';
import { ReportView } from '../report-view.ts';
import { Rows } from '../rows.ts';
import { EndedRunActions } from '../start/ended-run-actions.ts';
import { timeMarkup } from '../time-markup.ts';
import type { ControlDialog } from './control-dialog.ts';
import { workersOf } from './overview/worker-table.ts';
import type { Pointer } from './pointer.ts';
import { buttonsOf, noteElement, progressElements, runLink, stateText } from './run-parts.ts';

/** How many times longer than a reading the page then rests: it reads during at most a tenth of the time. */
const restFactor = 9;
const leastRestMs = 500;
/** The delay before a failed reading is repeated. */
const patienceMs = 5_000;
/** How often the page looks for a change to read. */
const lookMs = 100;

/** The page of a run: its progress, and its report so far, which the page reads again when the run has changed. */
export class RunPage {
  readonly id: string;
  readonly element = element('div');
  readonly #pointer: Pointer;
  readonly #onRead: () => void;
  readonly #closing = new AbortController();
  readonly #endedActions: EndedRunActions;
  /** How many checks this page has made. The report has what the last one found. */
  #checks = 0;
  #shownReport: Pick<LiveReport, 'data' | 'facts'> | undefined;
  #view: ReportView | undefined;
  /** Why the rows of the run can't be shown. */
  #trouble: string | undefined;
  /** The run as the server last sent it, as JSON, to notice changes. Empty for a run of another machine. */
  #latestRun = { json: '', ended: false };

  constructor(id: string, pointer: Pointer, onRead: () => void) {
    this.id = id;
    this.#pointer = pointer;
    this.#onRead = onRead;
    this.#endedActions = new EndedRunActions(id, () => {
      this.#checks += 1;
      onRead();
    });
    void this.#followRun();
  }

  /** Draws the page. @param controls undefined when the reader may not control runs */
  draw(snapshot: Snapshot, controls: ControlDialog | undefined): void {
    const { report, datastore } = snapshot;
    const runs = [...snapshot.runs, ...snapshot.ended];
    const now = runs.find(({ id }) => id === this.id);
    const back = element('a', { href: '#', id: 'back' }, 'All runs');
    const title = element('h1', `Run ${this.id}`);
    if (now === undefined) {
      redraw(
        this.element,
        back,
        title,
        noteElement('Neither the state folder nor Redis has a run with this id.'),
      );
      return;
    }
    const shown = this.#shownReport;
    const run = shown === undefined ? now : withCountsOf(shown, now);
    const { local, ended } = run;
    const elsewhere = `The rows and the report of this run are in its state folder on ${run.coordinator?.host ?? 'another machine'}.`;
    const retries = runs.filter((each) => each.local?.retryOf === this.id).map(({ id }) => id);
    const mayAct = ended && local !== undefined && snapshot.drafts !== undefined;
    const copy = shown && copyButton(shown.data);
    if (mayAct && controls !== undefined)
      this.#endedActions.draw(run, shown?.data.steps ?? [], controls, copy);
    const buttons = buttonsOf(run, controls, copy);
    const workers = snapshot.workers.filter((worker) => apiText(worker) === apiText(run));
    redraw(
      this.element,
      element('p', { id: 'trail' }, back, ' / ', this.id, ' ', stateText(stateOf(run))),
      shown === undefined ? title : drawnMarkup(reportHead(withNews(shown.data, run), timeMarkup)),
      local === undefined && noteElement(elsewhere),
      local?.retryOf !== undefined && element('p', 'This run is a retry of ', runLink(local.retryOf), '.'),
      retries.length > 0 && element('p', 'Retried by', ...retries.map((id) => [' ', runLink(id)])),
      report && reportLink(this.id, report),
      local && historyOf(local.states),
      progressElements(run, shown !== undefined, { isDatastoreAway: datastore?.away !== undefined }),
      buttons,
      mayAct && controls !== undefined && this.#endedActions.element,
      isShared(run) && !ended && workersOf({ datastore, workers, runs: [run] }),
      this.#trouble !== undefined && run.isLastKnown === undefined && noteElement(this.#trouble),
      this.#view?.element,
    );
    if (local === undefined) return;
    this.element.classList.toggle('in-progress', !ended);
    this.element.classList.toggle('with-actions', buttons !== false || (mayAct && controls !== undefined));
    this.#latestRun = { json: JSON.stringify([now, report, this.#checks]), ended };
  }

  close(): void {
    this.#closing.abort();
  }

  /** Reads the report when the run has changed, and at once when it has ended. */
  async #followRun(): Promise<void> {
    let read = { json: '', ended: false };
    let restUntil = 0;
    for (; !this.#closing.signal.aborted; await new Promise((resolve) => setTimeout(resolve, lookMs))) {
      const start = performance.now();
      const { json, ended } = this.#latestRun;
      if (json === read.json || (start < restUntil && ended === read.ended)) continue;
      const isRead = await this.#read();
      read = { json: isRead ? json : '', ended };
      const now = performance.now();
      restUntil = now + (isRead ? Math.max(leastRestMs, restFactor * (now - start)) : patienceMs);
    }
  }

  async #read(): Promise<boolean> {
    try {
      const { signal } = this.#closing;
      const answer = await fetch(`runs/${encodeURIComponent(this.id)}/report.json`, { signal });
      const content = (await answer.json()) as LiveReport & { readonly message?: string };
      if (!answer.ok) throw new Error(content.message);
      const rows = await Rows.read(content);
      this.#pointer.whenReleased(() => this.#show(content, rows));
      return true;
    } catch (error) {
      this.#trouble = `Can't show the rows: ${(error as Error).message}`;
      this.#onRead();
      return false;
    }
  }

  #show({ data, facts }: LiveReport, rows: Rows): void {
    this.#trouble = undefined;
    this.#shownReport = { data, facts };
    if (this.#view === undefined) {
      this.#view = new ReportView(data, rows, this.#closing.signal);
      this.element.append(this.#view.element);
      this.#view.followAddress();
    } else this.#view.show(data, rows);
    this.#onRead();
  }
}

/** The latest report, with the state of the run by now. The report may be newer than the run. A live page is of now: it was not written. */
function withNews(data: PageData, now: RunData): PageData {
  if (now.ended) return { ...data, run: { ...data.run, writtenAt: '' } };
  // The reason is left out here: the words of progress below the head have it.
  const { reason: _, ...run } = data.run;
  return { ...data, run: { ...run, writtenAt: '', state: stateOf(now).text, phase: 'in progress' } };
}

function copyButton(data: PageData): HTMLElement {
  const copied = { id: 'copy-summary', 'data-copy': summaryToCopy(data) };
  return button('Copy summary', (event) => void copyClicked(event), copied);
}

function reportLink(id: string, retries: readonly string[]): HTMLElement {
  const href = `runs/${encodeURIComponent(id)}/report.html`;
  const more = `, with the results of the retries ${retries.join(', ')}. This page has the results of this run only`;
  const what = `: a file that you can send${retries.length === 0 ? '' : more}.`;
  return element('p', element('a', { href, id: 'report' }, 'report.html'), what);
}

function historyOf(states: NonNullable<RunData['local']>['states']): HTMLElement {
  const lines = states.map(({ at, by, reason, ...end }) => {
    return [localTime(at), endInWords(end), by && actorText(by), reason];
  });
  const table = tableElement('History', ['Time', 'State', 'By', 'Reason'], lines);
  return element('details', { id: 'history' }, element('summary', 'History'), table);
}
