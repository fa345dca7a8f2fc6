/** The drawing that `points` is for. */
export const trendSize = { width: 160, height: 32 } as const;

/** A shorter time between two points shows when results arrive, not how fast the run is. */
const leastMs = 2_000;
const mostPoints = 60;

/** How fast a run has finished rows since the page was opened, as a line that ends on the right. */
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

  /** The points of the line, as SVG has them; undefined while there are too few for a line. */
  get points(): string | undefined {
    const rates = this.#rates;
    const { width, height } = trendSize;
    const highest = Math.max(...rates);
    if (rates.length < 3 || highest === 0) return undefined;
    const first = mostPoints - rates.length;
    const x = (index: number): string => ((width * (first + index)) / (mostPoints - 1)).toFixed(1);
    const y = (rate: number): string => (height - 1 - ((height - 2) * rate) / highest).toFixed(1);
    return rates.map((rate, index) => `${x(index)},${y(rate)}`).join(' ');
  }
}
