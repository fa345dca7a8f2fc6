import type { Column } from '../column.ts';
import { element, redraw } from '../dom.ts';

/** Lets the reader choose the columns of the table. */
export class ColumnChooser {
  readonly #list = element('div', { class: 'choices', role: 'group', 'aria-label': 'Columns' });
  readonly element = element('details', { class: 'columns' }, element('summary', 'Columns'), this.#list);

  constructor(onChange: () => void) {
    this.#list.addEventListener('change', onChange);
  }

  /** Offers columns for the table. The first one, the number of the row, always stays. */
  offer([, ...columns]: readonly Column[]): void {
    const choices = columns.map(({ id, title }) => {
      const box = element('input', { type: 'checkbox', checked: true, id: `column ${id}` });
      return element('label', { id: `choice ${id}` }, box, ` ${title}`);
    });
    redraw(this.#list, choices);
  }

  chosen(columns: readonly Column[]): readonly Column[] {
    const left = Array.from(this.#list.querySelectorAll('input:not(:checked)'), ({ id }) => id);
    return columns.filter(({ id }) => !left.includes(`column ${id}`));
  }
}
