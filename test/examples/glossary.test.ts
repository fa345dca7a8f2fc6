import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkText, checkVerdicts, conflictRules, outcomes, priorities } from '../../src/domain/terms.ts';
import { type EndCause, endings } from '../../src/engine/run/record/ending.ts';

const sections = new Map(
  readFileSync('docs/glossary.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
);

const section = (term: string): string => sections.get(term) ?? `no section ${term}`;

/** Words that only developers meet. */
const forDevelopers = ['history', 'result'];

describe('docs/glossary.md', () => {
  test('has its terms in order', () => {
    const terms = [...sections.keys()];
    expect(terms).toEqual(terms.toSorted((a, b) => a.localeCompare(b, 'en')));
  });

  test('has the words of the code', () => {
    const inCode = readFileSync('src/domain/terms.ts', 'utf8').matchAll(/\*\*([a-z ]+?)s?\*\*/g);
    const terms = [...inCode].map(([, term = '']) => term).filter((term) => !forDevelopers.includes(term));
    expect(terms.length).toBeGreaterThan(5);
    expect([...sections.keys()].map((term) => term.toLowerCase())).toEqual(expect.arrayContaining(terms));
  });

  test('explains each outcome', () => {
    const explained = section('Outcome').matchAll(/^\| `(\w+)` \|/gm);
    expect([...explained].map(([, outcome]) => outcome)).toEqual([...outcomes]);
  });

  test.each<[string, EndCause]>([
    ['Budget', 'budget'],
    ['Gave up', 'stuck'],
    ['Halted', 'guard'],
  ])('%s: names the exit code', (term, cause) => {
    expect(/exit\s+code(?: is)? (\d+)/.exec(section(term))?.[1]).toBe(`${endings[cause].exitCode}`);
  });

  test.each([
    ['Check', checkVerdicts.map(checkText)],
    ['Conflict', conflictRules],
    ['Priority', priorities],
    ['Gave up', [endings.stuck.words]],
    ['Halted', [endings.guard.words]],
  ])('%s: has the words of the screens', (term, words) => {
    expect(words.filter((word) => !section(term).includes(word))).toEqual([]);
  });
});
