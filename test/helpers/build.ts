import { execFileSync } from 'node:child_process';

/** Builds the project once before the tests, because the end-to-end tests run what users run: `dist`. */
export default function build(): void {
  // Several projects need it.
  if (process.env['CQBATCH_TESTS_BUILT'] !== undefined) return;
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  process.env['CQBATCH_TESTS_BUILT'] = 'yes';
}
