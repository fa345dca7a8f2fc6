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

  /** The chosen columns. The first one, the number of the row, always stays. */
  chosen(columns: readonly Column[]): readonly Column[] {
    return columns.filter((column, place) => place === 0 || !this.#hidden.has(keyOf(column)));
  }

  #choice(column: Column): HTMLElement {
    const key = keyOf(column);
    const box = element('input', {
      type: 'checkbox',
      checked: !this.#hidden.has(key),
      id: `column ${key}`,
      change: () => {
        if (box.checked) this.#hidden.delete(key);
        else this.#hidden.add(key);
        this.#onChange();
      },
    });
    return element('label', box, ` ${column.title}`);
  }
}

function keyOf({ kind, name }: Column): string {
  return `${kind} ${name}`;
}
