import type { RunData } from '../../../server/page-data.ts';
import { type Child, element } from '../../dom.ts';
import { svgElement } from '../svg.ts';
import { dayBars, dayText } from './day-bars.ts';

const [width, laneHeight] = [1_000, 12];

/** A strip of the last 24 hours. A click on a bar opens its run; the tables below have links for readers without a pointer. */
export function dayStrip(runs: readonly RunData[], now = Date.now()): Child {
  const bars = dayBars(runs, now);
  if (bars.length === 0) return false;
  const height = laneHeight * (1 + Math.max(...bars.map(({ lane }) => lane)));
  const hours = [0.25, 0.5, 0.75].map((share) =>
    svgElement('line', { x1: String(share * width), x2: String(share * width), y1: '0', y2: String(height) }),
  );
  const rects = bars.map(({ run, from, to, lane, kind, state }) =>
    svgElement(
      'rect',
      {
        class: kind,
        x: String(Math.round(from * width)),
        y: String(lane * laneHeight + 1),
        width: String(Math.max(3, Math.round((to - from) * width))),
        height: String(laneHeight - 2),
        'data-run': run,
      },
      svgElement('title', {}, `${run}: ${state}`),
    ),
  );
  const strip = svgElement(
    'svg',
    {
      class: 'day',
      viewBox: `0 0 ${width} ${height}`,
      height: String(height),
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `Last 24 hours, ${dayText(bars)}`,
    },
    ...hours,
    ...rects,
  );
  strip.addEventListener('click', ({ target }) => {
    const run = target instanceof Element ? target.closest('[data-run]')?.getAttribute('data-run') : null;
    if (run != null) location.hash = `#run=${run}`;
  });
  const scale = ['24 h ago', '18 h', '12 h', '6 h', 'now'].map((text) => element('span', text));
  return element('section', { 'aria-label': 'Last 24 hours' }, element('h2', 'Last 24 hours'), [
    strip,
    element('p', { class: 'scale quiet', 'aria-hidden': 'true' }, scale),
  ]);
}
