import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

test('the runbook says what to do for each alert', () => {
  const { groups } = parse(readFileSync('examples/monitoring/alerts.yml', 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect(alerts.length).toBeGreaterThan(10);
  const rows = readFileSync('docs/runbook.md', 'utf8').matchAll(/^\| `(Cqbatch\w+)` \|/gm);
  expect([...rows].map(([, alert]) => alert)).toEqual(alerts);
});
