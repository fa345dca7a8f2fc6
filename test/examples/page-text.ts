import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** A page without its line breaks, links and marks of code. */
export function textOf(page: string): string {
  return readFileSync(`docs/${page}.md`, 'utf8')
    .replaceAll(/\]\([^)]*\)|[[\]`]/g, '')
    .replaceAll(/\s+/g, ' ');
}

/** The number that a file of `src` gives to a constant: `const maxHeldBytes = 32 * 1024 * 1024;` */
export function constant(file: string, name: string): number {
  const text = readFileSync(`src/${file}.ts`, 'utf8');
  const [, value] = new RegExp(`^(?:export )?const ${name} = ([\\d_ *.]+);`, 'm').exec(text) ?? [];
  expect(value, `${name} in ${file}`).toBeDefined();
  return (value ?? '')
    .split('*')
    .reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}
