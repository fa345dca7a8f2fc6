import { readFile } from 'node:fs/promises';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { operations } from '../../jobs/index.ts';
import { Metrics } from '../../src/daemon/metrics/metrics.ts';
import { openRegistry } from '../../src/daemon/metrics/registry.ts';
import { outcomes } from '../../src/domain/terms.ts';
import { runResults } from '../../src/engine/run/record/run-outcome.ts';
import { parsePrometheusText } from '../helpers/prometheus-text.ts';

const folder = 'examples/monitoring';

interface Query {
  readonly where: string;
  readonly expression: string;
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

async function rules(): Promise<readonly Rule[]> {
  const { groups } = parse(await readFile(`${folder}/alerts.yml`, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly {
      readonly refId: string;
      readonly expr: string;
      readonly legendFormat?: string;
    }[];
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  }[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

async function dashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(`${folder}/grafana-dashboard.json`, 'utf8'));
}

async function queries(): Promise<readonly Query[]> {
  const { panels } = await dashboard();
  return [
    ...(await rules()).map(({ alert, expr }) => ({ where: alert, expression: expr })),
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ refId, expr }) => ({
        where: `${title} ${refId}`,
        expression: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'x'),
      })),
    ),
  ];
}

/** Labels that Prometheus adds, and the one of a file. */
const targetLabels = ['job', 'instance', 'file'];

/** What can be asked for, by name of the series, with its labels. */
async function exported(): Promise<ReadonlyMap<string, readonly string[]>> {
  const metrics = new Metrics({ version: '1', operations, runs: true });
  metrics.finished([{ operation: '', outcome: 'failed', code: 'X' }]);
  metrics.observeRequests().ended({ status: 200, durationMs: 1 });
  const page = await openRegistry(metrics);
  const series = new Map([['up', targetLabels]]);
  for (const [name, { samples }] of parsePrometheusText((await page()).text)) {
    series.set(name, targetLabels);
    for (const sample of samples) series.set(sample.name, [...targetLabels, ...Object.keys(sample.labels)]);
  }
  // It is a name without series of its own.
  series.delete('cqbatch_request_duration_seconds');
  return series;
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly {
    readonly label: string;
    readonly value: string;
    readonly isPattern: boolean;
  }[];
}

/** The selectors and groupings of a PromQL expression. @throws for an invalid one */
function read(expression: string) {
  const selectors: { metric: string; matchers: { label: string; value: string; isPattern: boolean }[] }[] =
    [];
  const groupings: string[] = [];
  parser.parse(expression).iterate({
    enter({ type, name, from, to, node }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at "${expression.slice(from)}" of ${expression}`);
      if (name === 'VectorSelector') selectors.push({ metric: '', matchers: [] });
      const selector = selectors.at(-1);
      if (name === 'Identifier' && selector !== undefined) selector.metric = text;
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') groupings.push(text);
      if (name === 'UnquotedLabelMatcher') {
        const [, label = '', operator = '', value = ''] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(text) ?? [];
        selector?.matchers.push({ label, value, isPattern: operator.endsWith('~') });
      }
    },
  });
  return { selectors: selectors as readonly Selector[], groupings };
}

const values: Readonly<Record<string, readonly string[]>> = { outcome: outcomes, result: runResults };

describe('the alert rules and the dashboard', () => {
  test('use only exported series and their labels', async () => {
    const series = await exported();
    const all = await queries();
    expect(all.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const { where, expression } of all) {
      const { selectors, groupings } = read(expression);
      const labels = selectors.flatMap(({ metric }) => series.get(metric) ?? []);
      if (selectors.length === 0) wrong.push(`${where}: no series`);
      for (const { metric, matchers } of selectors) {
        if (!series.has(metric)) wrong.push(`${where}: ${metric}`);
        for (const { label, value, isPattern } of matchers) {
          if (!series.get(metric)?.includes(label)) wrong.push(`${where}: ${metric}{${label}}`);
          const known = values[label];
          const wanted = isPattern ? value.split('|') : [value];
          if (known !== undefined && !wanted.every((one) => known.includes(one)))
            wrong.push(`${where}: ${label} ${value}`);
        }
      }
      for (const label of groupings) if (!labels.includes(label)) wrong.push(`${where}: by ${label}`);
    }
    expect(wrong).toEqual([]);
  });

  test('use every metric at least once', async () => {
    const asked = new Set(
      (await queries()).flatMap(({ expression }) => read(expression).selectors.map(({ metric }) => metric)),
    );
    const names = [...(await exported()).keys()].filter((name) => !/_(sum|count)$/.test(name));
    expect(names.filter((name) => !asked.has(name))).toEqual([]);
  });
});

test('the text of an alert uses only labels of its expression', async () => {
  const all = await rules();
  expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length);
  const series = await exported();
  for (const { alert, expr, annotations } of all) {
    const { selectors, groupings } = read(expr);
    const isGrouped = /^(?:time\(\) - )?(?:sum|max) by/.test(expr);
    const left = isGrouped ? groupings : selectors.flatMap(({ metric }) => series.get(metric) ?? []);
    const named = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)]);
    expect({
      alert,
      missing: named.map(([, label = '']) => label).filter((label) => !left.includes(label)),
    }).toEqual({
      alert,
      missing: [],
    });
    expect(annotations['summary']).toBeDefined();
  }
});

test('the job of the alerts is the one of the scrape configuration, which names their file', async () => {
  const configuration = parse(await readFile(`${folder}/prometheus.yml`, 'utf8'));
  expect(configuration.rule_files).toEqual(['alerts.yml']);
  expect(configuration.scrape_configs.map(({ job_name: name }: { job_name: string }) => name)).toContain(
    'cqbatch',
  );
});

test('the panels of the dashboard have unique ids and existing variables, and do not overlap', async () => {
  const { panels, templating } = await dashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const known = ['__rate_interval', '__all', ...templating.list.map(({ name }) => name)];
  const text = JSON.stringify(panels);
  const used = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});
