const [width, height] = [160, 32];
/** Shorter times between two looks tell more about the looks than about the rate. */
const leastMs = 900;
const mostPoints = 90;

/** How fast a run has finished rows since the page was opened, as a line. */
export class Trend {
  #before: { readonly at: number; readonly done: number } | undefined;
  readonly #rates: number[] = [];

  /** @param at milliseconds */
  add(at: number, done: number): void {
    const before = this.#before;
    if (before !== undefined && at - before.at < leastMs) return;
    if (before !== undefined)
      this.#rates.push(Math.max(0, (1_000 * (done - before.done)) / (at - before.at)));
    this.#before = { at, done };
    this.#rates.splice(0, this.#rates.length - mostPoints);
  }

  /** For readers who see it: the figures beside it say the same. Undefined until there is a line to draw. */
  drawing(): SVGElement | undefined {
    const highest = Math.max(...this.#rates);
    if (this.#rates.length < 3 || highest === 0) return undefined;
    const x = (index: number): string => ((width * index) / (mostPoints - 1)).toFixed(1);
    const y = (rate: number): string => (height - 1 - ((height - 2) * rate) / highest).toFixed(1);
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
    line.setAttribute('points', this.#rates.map((rate, index) => `${x(index)},${y(rate)}`).join(' '));
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    for (const [name, value] of Object.entries({
      ...{ class: 'trend', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': true },
    }))
      svg.setAttribute(name, String(value));
    svg.append(line);
    return svg;
  }
}
