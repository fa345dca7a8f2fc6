import { describe, test } from 'vitest';
import { findProgram } from './program.ts';

/**
 * A `describe` for tests that need one of these programs: without any they are skipped, with a line that says why. On
 * a build server (`CI`) they fail instead, lest nobody notice.
 */
export function describeWithProgram(names: readonly string[], title: string, body: () => void): void {
  if (findProgram(names) !== undefined) {
    describe(title, body);
    return;
  }
  const reason = `not installed: ${names.join(', ')}`;
  describe(title, () => {
    if (process.env['CI'] === undefined) test.skip(`skipped, ${reason}`, () => {});
    else test('has the program it needs', () => Promise.reject(new Error(reason)));
  });
}
