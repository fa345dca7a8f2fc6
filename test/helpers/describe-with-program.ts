import { existsSync } from 'node:fs';
import { describe, test } from 'vitest';
import { findProgram } from './program.ts';

/** A `describe` for tests that need one of these programs. */
export function describeWithProgram(names: readonly string[], title: string, body: () => void): void {
  const missing = findProgram(names) === undefined ? `not installed: ${names.join(', ')}` : undefined;
  describeUnless(missing, title, body);
}

/**
 * A `describe` for tests that need something that not every machine has. Without it they are skipped, with a line that says
 * why. On a build server (`CI`) they fail, because a skipped test is easily missed there.
 *
 * @param missing what the machine lacks; undefined: nothing
 */
export function describeUnless(missing: string | undefined, title: string, body: () => void): void {
  if (missing === undefined || process.env['CI'] === undefined) describeWhereFound(missing, title, body);
  else describe(title, () => test('has what it needs', () => Promise.reject(new Error(missing))));
}

/** Like `describeUnless`, for what build servers need not have either: they skip these tests, too. */
export function describeWhereFound(missing: string | undefined, title: string, body: () => void): void {
  if (missing === undefined) describe(title, body);
  else describe(title, () => test.skip(`skipped, ${missing}`, () => {}));
}

/** A `describe` for tests of file modes, signals, devices and shells as POSIX has them. */
export function describeOnPosix(title: string, body: () => void): void {
  describeUnless(process.platform === 'win32' ? 'Windows is not POSIX' : undefined, title, body);
}

/** A `describe` for tests that write to the Linux device that is always full. */
export function describeWithFullDevice(title: string, body: () => void): void {
  describeUnless(existsSync('/dev/full') ? undefined : 'there is no /dev/full', title, body);
}
