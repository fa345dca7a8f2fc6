import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const runbook = readFileSync('docs/runbook.md', 'utf8');

/** The codes in the first column of the runbook's tables. */
const explained = new Set(
  [...runbook.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []),
);

/** The codes of errors that are not the user's: every exit code but 2. */
function codesInSource(): readonly string[] {
  const files = execFileSync('git', ['ls-files', 'src', 'jobs'], { encoding: 'utf8' }).trim().split('\n');
  const source = files.filter((path) => path.endsWith('.ts')).map((path) => readFileSync(path, 'utf8'));
  const made = /\b(?:fatalError|new BusyError|new SystemError|rule)\(\s*'([A-Z_]+)'/g;
  return [...new Set(source.flatMap((text) => [...text.matchAll(made)].map(([, code = '']) => code)))];
}

describe('the runbook', () => {
  test('explains each alert', () => {
    const { groups } = parse(readFileSync('examples/monitoring/alerts.yml', 'utf8')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(alerts.length).toBeGreaterThan(10);
    expect(alerts.filter((alert) => !explained.has(alert))).toEqual([]);
  });

  test('explains each code of an error that is not wrong usage', () => {
    const codes = codesInSource();
    expect(codes.length).toBeGreaterThan(40);
    expect(codes.filter((code) => !explained.has(code))).toEqual([]);
  });
});
