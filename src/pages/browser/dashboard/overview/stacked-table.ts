import { type Child, element, tableElement } from '../../dom.ts';

/** A table that has a card for each row on a narrow screen, where each cell has its title. */
export function stackedTable(
  label: string,
  titles: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const cells = rows.map((row) =>
    row.map((cell, index) => element('td', { 'data-column': titles[index] }, cell)),
  );
  return element('div', { class: 'stacked', id: `stacked ${label}` }, tableElement(label, titles, cells));
}
