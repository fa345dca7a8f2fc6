import { planEnd } from '../../../engine/report/plan-page/plan-head.ts';
import type { PlanPageContent } from '../../../engine/report/plan-page/plan-page-data.ts';
import { drawnMarkup, element } from '../dom.ts';
import { printFooter } from '../paper-footer.ts';
import { timeMarkup } from '../time-markup.ts';
import { PlanRows } from './plan-rows.ts';
import { PlanView } from './plan-view.ts';

const content = JSON.parse(document.getElementById('content')?.textContent ?? '') as PlanPageContent;
const main = document.getElementById('page');
try {
  const end = drawnMarkup(planEnd(content.data, timeMarkup));
  const view = new PlanView(content.data, await PlanRows.read(content), end, new AbortController().signal);
  printFooter(`Plan of ${content.data.source.name}`);
  main?.replaceChildren(view.element);
  view.followAddress();
} catch (error) {
  // Reading fails when the browser has no DecompressionStream, or the file is incomplete.
  const why = `This browser can't show the rows (${(error as Error).message}). Try another one.`;
  main?.append(element('p', { class: 'note', id: 'rows' }, why));
}
main?.setAttribute('aria-busy', 'false');
