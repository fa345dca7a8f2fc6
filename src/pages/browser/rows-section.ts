import { button, element } from './dom.ts';

/** The section of the rows, with a link that skips to it, and a button that leads back to where the reader came from. */
export class RowsSection {
  readonly #title = element('h2', { tabindex: '-1' }, 'Rows');
  readonly element = element('section', { 'aria-label': 'Rows', id: 'rows' }, this.#title);
  /** A link for the keyboard, before all others. Its address would replace what the reader looks at, so it is not followed. */
  readonly skipLink: HTMLElement;
  readonly backButton = button('', () => this.#goBack(), { id: 'back-up', hidden: true });
  /** Where the reader was before. */
  #from: { readonly id: string; readonly top: number } | undefined;

  /** @param focusRows moves the focus to the table */
  constructor(focusRows: () => void) {
    const skip = (event: Event): void => {
      event.preventDefault();
      focusRows();
    };
    this.skipLink = element('a', { class: 'skip', href: '#rows', click: skip }, 'Skip to the rows');
  }

  /** Keeps the height of the page, so that filters stay in place when fewer rows are found. */
  keepHeight(): void {
    this.element.classList.add('filtered');
  }

  /** Shows the rows, and offers the way back to the link that the reader has followed. */
  jumpFrom(link: HTMLElement): void {
    const place = link.closest('section, ul')?.getAttribute('aria-label');
    this.#from = { id: link.id, top: scrollY };
    this.backButton.textContent = place ? `↑ Back to “${place}”` : '↑ Back';
    this.backButton.hidden = false;
    this.#title.focus({ preventScroll: true });
    this.element.scrollIntoView();
  }

  #goBack(): void {
    const { id = '', top = 0 } = this.#from ?? {};
    this.backButton.hidden = true;
    scrollTo(0, top);
    document.getElementById(id)?.focus({ preventScroll: true });
  }
}
