import { totalOf } from '../domain.ts';
import type { PageData } from '../report/html/page-data.ts';
import { reportHead } from '../report/html/report-head.ts';
import { drawn, element, nodesOf, outcomeBar } from './dom.ts';
import { ReportView } from './report-view.ts';
import { Rows } from './rows.ts';

/** The text of the element with this id. */
function contentOf(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}

const data = JSON.parse(contentOf('data')) as PageData;
const { manifest, outcomes } = data.summary;
const pieces = Object.fromEntries(data.rows.columns.map(({ piece }) => [piece, contentOf(piece)]));
const view = new ReportView(new AbortController().signal);
const main = document.getElementById('page');
try {
  view.show(data, await Rows.read({ data, pieces }));
  // The same head again, with times in the zone of the reader.
  const head = nodesOf(drawn(reportHead(data)));
  main?.replaceChildren(...head, outcomeBar(outcomes, manifest.rows - totalOf(outcomes)), view.element);
} catch (error) {
  // The browser is older than Chrome 103, Firefox 113 or Safari 16.4, or the file is incomplete.
  const why = `This browser can't show the rows (${(error as Error).message}).`;
  const note = `${why} Open report.csv, or try another browser.`;
  main?.append(element('p', { class: 'note', id: 'rows' }, note));
}
main?.setAttribute('aria-busy', 'false');
