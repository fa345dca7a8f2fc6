import { element, redraw } from './dom.ts';
import type { Column } from './rows.ts';

/** Lets the reader choose the columns of the table. */
export class ColumnChooser {
  readonly #list = element('div', { class: 'choices', role: 'group', 'aria-label': 'Columns' });
  readonly element = element('details', { class: 'columns' }, element('summary', 'Columns'), this.#list);
  readonly #hidden = new Set<string>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  offer(columns: readonly Column[]): void {
    redraw(
      this.#list,
      columns.slice(1).map((column) => this.#choice(column)),
    );
  }

  /** The first column, the number of the row, always stays. */
  chosen(columns: readonly Column[]): readonly Column[] {
    return columns.filter(({ id }, place) => place === 0 || !this.#hidden.has(id));
  }

  #choice({ id, title }: Column): HTMLElement {
    const box = element('input', {
      type: 'checkbox',
      checked: !this.#hidden.has(id),
      id: `column ${id}`,
      change: () => {
        if (box.checked) this.#hidden.delete(id);
        else this.#hidden.add(id);
        this.#onChange();
      },
    });
    return element('label', box, ` ${title}`);
  }
}
