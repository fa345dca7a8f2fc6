import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { phases } from '../../src/domain/pace.ts';
import { logLines } from './log-lines.ts';
import { inCode, withTable } from './markdown.ts';
import { scraped } from './metrics.ts';

const page = readFileSync('docs/monitoring.md', 'utf8');

const metricRows = [...(await scraped())].map(([name, { type, help, samples }]) => {
  const labels = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== 'le');
  return [inCode(name), type, labels.map(inCode).join(', '), help];
});

const levels = ['error', 'warn', 'info', 'debug'];

const logRows = logLines()
  .toSorted((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))
  .map(({ message, level, fields }) => [inCode(message), level, fields.map(inCode).join(', ')]);

// To write the tables again: npm test -- test/examples/monitoring-page.test.ts -u
test('docs/monitoring.md lists the metrics and the lines of the log', async () => {
  expect(logRows.length).toBeGreaterThan(30);
  const withMetrics = withTable(page, ['metric', 'type', 'labels', 'meaning'], metricRows);
  const whole = withTable(withMetrics, ['msg', 'level', 'fields'], logRows);
  await expect(whole).toMatchFileSnapshot('../../docs/monitoring.md');
});

test('docs/monitoring.md explains each phase of the rate', () => {
  expect(phases.filter((phase) => !page.includes(`- \`${phase}\`:`))).toEqual([]);
});
