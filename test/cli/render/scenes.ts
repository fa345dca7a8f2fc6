import { withColors } from '../../../src/cli/render/style.ts';

/**
 * What people read in each of several cases, one below the other, for a file in `screens/`.
 * After a change that is wanted: `npm test -- test/cli -u`, and read the difference.
 */
export function scenes<Case>(
  cases: readonly (readonly [what: string, each: Case])[],
  draw: (each: Case) => string,
) {
  return cases.map(([what, each]) => `# ${what}\n${draw(each)}\n`).join('\n');
}

const colors: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  '1;31': 'bold red',
  '1;33': 'bold yellow',
};

/** A styled text with its colors as words. */
export function readable(text: string): string {
  return withColors(text).replaceAll(/\p{Cc}\[([\d;]+)m/gu, (_, code: string) =>
    colors[code] === undefined ? '</>' : `<${colors[code]}>`,
  );
}
