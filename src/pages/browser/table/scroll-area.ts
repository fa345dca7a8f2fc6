import { element } from '../dom.ts';

/** The highest area in pixels. Browsers of phones draw nothing beyond about ten million; rows that are higher together pass by faster. */
const highestArea = 8_000_000;

/** An area that scrolls through many rows of the same height. Its content stays in sight and draws the rows of the position. */
export class ScrollArea {
  readonly element: HTMLElement;
  readonly #scroller: HTMLElement;
  readonly #spacer: HTMLElement;
  #rows = 0;
  #rowHeight = 1;
  #headHeight = 0;

  /** @param signal ends the observation */
  constructor(
    content: HTMLElement,
    note: HTMLElement,
    onChange: { readonly scroll: () => void; readonly resize: () => void },
    signal: AbortSignal,
  ) {
    this.#spacer = element('div', content);
    const scroll = (): void => {
      this.#showMore();
      onChange.scroll();
    };
    this.#scroller = element('div', { class: 'scroller', scroll }, this.#spacer, note);
    this.element = element('div', { class: 'frame' }, this.#scroller);
    const resized = new ResizeObserver(onChange.resize);
    resized.observe(this.#scroller);
    signal.addEventListener('abort', () => resized.disconnect());
  }

  /** Makes room for rows. */
  fit(rows: number, rowHeight: number, headHeight: number): void {
    this.#rows = rows;
    this.#rowHeight = rowHeight;
    this.#headHeight = headHeight;
    this.#spacer.style.height = `${Math.min(this.#wholeHeight, highestArea)}px`;
    this.#showMore();
  }

  /** Makes the area as high as its content. */
  fitContent(): void {
    this.#spacer.style.height = 'auto';
  }

  /** The first row in sight. */
  get first(): number {
    // The position may be rounded by the browser.
    return Math.ceil((this.#scroller.scrollTop * this.#speed) / this.#rowHeight - 0.1);
  }

  set first(row: number) {
    if (row !== this.first) this.#scroller.scrollTop = (row * this.#rowHeight) / this.#speed;
  }

  /** How many rows are whole in sight. */
  get rowsInSight(): number {
    return Math.max(1, Math.floor((this.#scroller.clientHeight - this.#headHeight) / this.#rowHeight));
  }

  get #wholeHeight(): number {
    return this.#headHeight + this.#rows * this.#rowHeight;
  }

  /** How many pixels of rows pass by for a pixel of scrolling. */
  get #speed(): number {
    const inSight = this.#scroller.clientHeight;
    const area = Math.min(this.#wholeHeight, highestArea);
    return area > inSight ? (this.#wholeHeight - inSight) / (area - inSight) : 1;
  }

  /** Shows a sign if there is more beyond the right edge. */
  #showMore(): void {
    const { scrollWidth, clientWidth, scrollLeft } = this.#scroller;
    this.element.classList.toggle('more', scrollWidth - clientWidth - scrollLeft > 1);
  }
}
