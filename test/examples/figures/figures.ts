import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { count } from '../../../src/base/text/format.ts';

/** A figure of the code, and the sentence in which a page has the figure: in digits or as a word. */
export type PageFigure = readonly [
  page: string,
  figure: number | string,
  sentence: (figure: string) => string,
];

/** The words that a page may have instead of digits. */
const words: Readonly<Record<number, readonly string[]>> = {
  0.2: ['a fifth'],
  0.5: ['half'],
  1: ['a', 'an', 'one'],
  2: ['two', 'twice'],
  3: ['three'],
  4: ['four'],
  5: ['five'],
  6: ['six'],
  7: ['seven'],
  8: ['eight'],
  9: ['nine'],
  10: ['ten', 'Ten'],
  100: ['a hundred'],
  1000: ['a thousand'],
};

/** Holds pages to the figures of the code. */
export function testFigures(figures: readonly PageFigure[]): void {
  const rows = figures.map(([page, figure, sentence]) => {
    const ways = textsOf(figure).map(sentence);
    return [`docs/${page}.md says "${ways[0]}"`, page, ways] as const;
  });
  test.each(rows)('%s', (title, page, ways) => {
    expect(ways.filter(hasText(page)), title).toHaveLength(1);
  });
}

function textsOf(figure: number | string): readonly string[] {
  if (typeof figure === 'string') return [figure];
  return [Number.isInteger(figure) ? count(figure) : String(figure), ...(words[figure] ?? [])];
}

/** Whether a page has a text, and not as a part of a longer word or number. Its line breaks, links and marks of code do not count. */
function hasText(page: string): (text: string) => boolean {
  const all = readFileSync(`docs/${page}.md`, 'utf8')
    .replaceAll(/\]\([^)]*\)|[[\]`]/g, '')
    .replaceAll(/\s+/g, ' ');
  return (text) => {
    const around = all.split(text);
    return around
      .slice(1)
      .some((after, index) => !/[\w.,]$/.test(around[index] ?? '') && !/^(?:\w|[.,]\d)/.test(after));
  };
}

/**
 * The number that a file of `src` gives to a constant, or to a member of a constant object: `const maxHeldBytes = 32 * 1024 * 1024;`. Only for
 * what the file keeps to itself: exported constants are imported.
 */
export function constant(file: string, name: string): number {
  const text = readFileSync(`src/${file}.ts`, 'utf8');
  const values = [...text.matchAll(new RegExp(`(?:^const ${name} =|[{ ]${name}:) ([\\d_ *.]+)[;,} ]`, 'gm'))];
  expect(values, `${name} in ${file}`).toHaveLength(1);
  const [, value = ''] = values[0] ?? [];
  return value.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}
