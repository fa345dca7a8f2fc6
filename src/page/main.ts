import { totalOf } from '../domain.ts';
import type { PageData } from '../report/html/page-data.ts';
import { localTime } from '../text/local-time.ts';
import { counted, exactDuration } from '../text/quantities.ts';
import { element, factList, outcomeBar } from './dom.ts';
import { ReportView } from './report-view.ts';
import { Rows } from './rows.ts';

/** The facts of a run: manifest, API, times, user and reason. */
function header({ run, summary }: PageData): HTMLElement {
  return element(
    'header',
    element('h1', `Run ${run.id} `, element('span', { class: `state ${run.state}` }, run.state)),
    run.reason !== undefined && element('p', { class: 'note' }, run.reason),
    factList([
      ['Manifest', summary.manifest.name],
      ['API', run.baseUrl],
      ['Started', summary.started_at === null ? '' : localTime(summary.started_at)],
      ['Ended', summary.finished_at === null ? '' : localTime(summary.finished_at)],
      ['Duration', exactDuration(summary.duration_s * 1_000)],
      ['Started by', run.by],
      ['Reason', run.purpose],
      ['Retries', summary.retries.join(', ')],
      ['Retry of', summary.retry_of ?? ''],
      ['Report written', localTime(run.writtenAt)],
    ]),
  );
}

/** The text of the element with this id. */
function contentOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

const data = JSON.parse(contentOf('data')) as PageData;
const { manifest, outcomes } = data.summary;
const pieces = Object.fromEntries(data.rows.columns.map(({ piece }) => [piece, contentOf(piece)]));
const view = new ReportView(new AbortController().signal);
const main = document.getElementById('page');
main?.append(
  header(data),
  element('h2', counted(manifest.rows, 'row')),
  ...(manifest.left_out === undefined
    ? []
    : [element('p', `${counted(manifest.left_out, 'more row')} left out by --where`)]),
  outcomeBar(outcomes, manifest.rows - totalOf(outcomes)),
);
try {
  view.show(data, await Rows.read({ data, pieces }));
  main?.append(view.element);
} catch (error) {
  // The browser is older than Chrome 103, Firefox 113 or Safari 16.4, or the file is incomplete.
  const why = `This browser can't show the rows (${(error as Error).message}).`;
  main?.append(element('p', { class: 'note' }, `${why} Open report.csv, or try another browser.`));
}
main?.setAttribute('aria-busy', 'false');
