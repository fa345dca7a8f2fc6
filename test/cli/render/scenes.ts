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
