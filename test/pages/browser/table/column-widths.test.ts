import { expect, test } from 'vitest';
import type { Column } from '../../../../src/pages/browser/column.ts';
import { columnWidth, mayBeCut, tableWidth } from '../../../../src/pages/browser/table/column-widths.ts';

function column(width: number, more: Partial<Column> = {}): Column {
  const text = () => '';
  const facts = { kind: 'cell', id: 'cell a', name: 'a', title: 'a', isNumber: false } as const;
  return { ...facts, width, text, shown: text, key: text, ...more };
}

/** The characters that a column has room for. */
const roomOf = (of: Column): number => Number.parseFloat(columnWidth(of).slice('calc('.length));

const uuid = '01234567-89ab-cdef-0123-456789abcdef';

test('an identifier such as a UUID has room for all of it; a path is cut', () => {
  expect(roomOf(column(uuid.length, { role: 'subject' }))).toBeGreaterThan(uuid.length);
  expect(roomOf(column(300, { role: 'subject' }))).toBe(24);
});

test('a short text takes no more room than it needs', () => {
  expect(roomOf(column(4))).toBeLessThan(6);
});

test('the long column gets what its texts need, up to the edge of the screen', () => {
  const before = [column(4), column(10)];
  const width = tableWidth([...before, column(120, { look: 'long' }), column(5)]);
  const edge = `100% - (${before.map(columnWidth).join(' + ')})`;
  expect(width).toContain(`min(calc(132.0ch + 2 * var(--cell-room)), ${edge})`);
});

test('a text that may be cut has its whole text in a title', () => {
  expect(mayBeCut(column(100), 'x'.repeat(20))).toBe(true);
  expect(mayBeCut(column(100), 'x')).toBe(false);
});
