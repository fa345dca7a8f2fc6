import { localTime } from '../../../base/text/local-time.ts';
import { element, redraw } from '../dom.ts';
import { bandAt, type ChartData, type ColorName, dashes, textAt } from './chart.ts';
import { lengthOf } from './run-times.ts';

const bandLabels = { wait: 'waiting', stop: 'not in progress' } as const;

/** Explains the lines and marks of a chart, each with its value at a time or of the whole run. */
export class Legend {
  readonly element = element('ul', { class: 'legend' });

  /** Shows the values. @param index the point at which the reader looks, if any */
  show(data: ChartData, index?: number | null): void {
    const time = index == null ? undefined : data.times[index];
    const { bands, lines } = data;
    const items = lines.map((line) => {
      const text = time === undefined ? line.overallText : (textAt(data, line, index ?? 0) ?? '–');
      return entry(line.stroke, line.color, line.label, text);
    });
    const band = time === undefined ? undefined : bandAt(data, time);
    for (const kind of ['wait', 'stop'] as const) {
      const all = bands.filter((each) => each.kind === kind);
      if (all.length === 0) continue;
      const text = band?.kind === kind ? `${lengthOf([band])}: ${band.reason}` : '–';
      items.push(entry('band', `--${kind}`, bandLabels[kind], time === undefined ? lengthOf(all) : text));
    }
    redraw(
      this.element,
      element('li', { class: 'when quiet' }, time === undefined ? 'Whole run' : momentText(data, time)),
      items,
    );
  }
}

/** A time of day, with its date if the chart shows several. */
function momentText({ times }: ChartData, time: number): string {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0].map((end) => localTime(end * 1_000).slice(0, 10));
  return localTime(time * 1_000).slice(first === last ? 11 : 0);
}

function entry(kind: string, color: ColorName, label: string, value: string): HTMLElement {
  const swatch = element('span', { class: `swatch ${kind}` });
  swatch.style.color = `var(${color})`;
  if (kind in dashes) swatch.style.borderTopStyle = kind;
  return element('li', swatch, `${label} `, element('b', value));
}
