import { expect } from 'vitest';

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A page with another table in place of the one that begins with this column. */
export function withTable(
  page: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const [before, after] = page.split(new RegExp(`^\\| ${head[0]} \\|.*\\n(?:\\|.*\\n)+`, 'm'));
  expect(after, `the page has a table of each ${head[0]}`).toBeDefined();
  return `${before}${table(head, rows)}\n${after}`;
}

export const inCode = (text: string) => `\`${text}\``;
