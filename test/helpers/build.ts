import { execFileSync } from 'node:child_process';

/** Builds the project once before the tests, because the end-to-end tests run what users run: `dist`. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}
