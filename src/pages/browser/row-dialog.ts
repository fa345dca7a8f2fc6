import { button, type Child, element, redraw } from './dom.ts';
import type { RowTable } from './table/table.ts';

/** What the dialog shows of a row. */
export interface RowStory {
  readonly title: Child;
  readonly content: Child;
}

/** A dialog with the details of a row. */
export class RowDialog {
  readonly element: HTMLDialogElement;
  readonly #table: Pick<RowTable, 'canMove' | 'move'>;

  constructor(table: Pick<RowTable, 'canMove' | 'move'>, onClose: () => void) {
    this.#table = table;
    this.element = element('dialog', {
      'aria-labelledby': 'story-title',
      close: onClose,
      keydown: (event) => this.#pressed(event as KeyboardEvent),
    });
  }

  show(story: RowStory): void {
    this.draw(story);
    this.element.scrollTop = 0;
    if (!this.element.open) this.element.showModal();
  }

  /** Shows newer data of the row that is open. */
  draw({ title, content }: RowStory): void {
    // Buttons are not `disabled`, because a disabled button would lose the focus.
    const step = (text: string, steps: -1 | 1) =>
      button(text, () => this.#table.move(steps), {
        id: `story-${text}`,
        'aria-disabled': !this.#table.canMove(steps) && 'true',
        autofocus: steps === 1,
      });
    const close = button('Close', () => this.element.close(), { id: 'story-close' });
    const buttons = element('div', { class: 'buttons' }, step('Previous', -1), step('Next', 1), close);
    redraw(this.element, element('header', element('h2', { id: 'story-title' }, title), buttons), content);
  }

  #pressed({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent): void {
    const isScrolling = target instanceof Element && target.matches('[tabindex]');
    if (isScrolling || altKey || ctrlKey || metaKey) return;
    if (key === 'ArrowLeft') this.#table.move(-1);
    if (key === 'ArrowRight') this.#table.move(1);
  }
}
