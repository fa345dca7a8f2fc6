import type { PageContent } from '../../engine/report/html/page-data.ts';
import { reportHead } from '../../engine/report/html/report-head.ts';
import { drawnMarkup, element, outcomeBar, redraw } from './dom.ts';
import { printFooter } from './paper-footer.ts';
import { ReportView } from './report-view.ts';
import { Rows } from './rows.ts';
import { timeMarkup } from './time-markup.ts';

const content = JSON.parse(document.getElementById('content')?.textContent ?? '') as PageContent;
const { data } = content;
const { manifest, outcomes, codes } = data.summary;
const main = document.getElementById('page');
try {
  const rows = await Rows.read(content);
  const view = new ReportView(data, rows, new AbortController().signal);
  // The script draws the head again, with times as their distance from now.
  const head = element('div');
  const drawHead = (): void => redraw(head, drawnMarkup(reportHead(data, timeMarkup)));
  drawHead();
  setInterval(drawHead, 30_000);
  const bar = outcomeBar({ counts: outcomes, rows: manifest.rows, codes });
  printFooter(`Run ${data.run.id} of ${manifest.name}`);
  main?.replaceChildren(head, bar, view.element);
  view.followAddress();
} catch (error) {
  // Reading fails when the browser has no DecompressionStream, or the file is incomplete.
  const why = `This browser can't show the rows (${(error as Error).message}).`;
  const note = `${why} Open report.csv, or try another browser.`;
  main?.append(element('p', { class: 'note', id: 'rows' }, note));
}
main?.setAttribute('aria-busy', 'false');
