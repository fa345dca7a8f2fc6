import type { Child } from '../dom.ts';

const svgNames = 'http://www.w3.org/2000/svg';

/** Makes an element of a drawing. Texts become text nodes, never markup. */
export function svgElement(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): SVGElement {
  const made = document.createElementNS(svgNames, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const fewestValues = 10;
const [width, height] = [120, 28];

/** The curve of a rate in its last minutes, from 0 to its peak. Undefined with too few points. */
export function sparkline(values: readonly number[] | undefined, label: string): Child {
  if (values === undefined || values.length < fewestValues) return undefined;
  const most = Math.max(...values, 1);
  const step = width / (values.length - 1);
  const points = values.map(
    (value, index) =>
      `${(index * step).toFixed(1)},${(height - 1 - ((height - 2) * value) / most).toFixed(1)}`,
  );
  return svgElement(
    'svg',
    {
      class: 'spark',
      viewBox: `0 0 ${width} ${height}`,
      width: String(width),
      height: String(height),
      role: 'img',
      'aria-label': label,
    },
    svgElement('polyline', { points: points.join(' ') }),
  );
}
