import { execFileSync } from 'node:child_process';

/** The first of these programs that this machine has; undefined when it has no such program. */
export function findProgram(names: readonly string[]): string | undefined {
  return names.find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch (error) {
      // Not every program knows the option.
      return (error as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  });
}
