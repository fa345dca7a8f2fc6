import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { outcomes } from '../../src/domain/terms.ts';
import { runResults } from '../../src/engine/run/record/ending.ts';
import { scraped } from './metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

const read = (name: string): string => readFileSync(`examples/monitoring/${name}`, 'utf8');
const { groups } = parse(read('alerts.yml')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const { panels, templating } = JSON.parse(read('grafana-dashboard.json')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};

/** The expressions of both, and where each is. */
const queries = [
  ...rules.map(({ alert, expr }) => ({ where: alert, ...partsOf(expr) })),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ refId, expr }) => {
      const query = expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'x');
      return { where: `${title} ${refId}`, ...partsOf(query) };
    }),
  ),
];

/** Labels that Prometheus adds, and the one of a file. */
const targetLabels = ['job', 'instance', 'file'];

/** What can be asked for, by name of the series, with its labels. */
async function exported(): Promise<ReadonlyMap<string, readonly string[]>> {
  const series = new Map([['up', targetLabels]]);
  for (const [name, { samples }] of await scraped()) {
    series.set(name, targetLabels);
    for (const sample of samples) series.set(sample.name, [...targetLabels, ...Object.keys(sample.labels)]);
  }
  // It is a name without series of its own.
  series.delete('cqbatch_request_duration_seconds');
  return series;
}

interface Selector {
  metric: string;
  readonly matchers: { readonly label: string; readonly value: string; readonly isPattern: boolean }[];
}

/** The selectors and groupings of a PromQL expression. @throws for an invalid one */
function partsOf(expression: string) {
  const selectors: Selector[] = [];
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
  return { selectors, groupings };
}

const series = await exported();
const values: Readonly<Record<string, readonly string[]>> = { outcome: outcomes, result: runResults };

describe('the alert rules and the dashboard', () => {
  test('use only exported series and their labels', () => {
    expect(queries.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const { where, selectors, groupings } of queries) {
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

  test('use every metric at least once', () => {
    const asked = new Set(queries.flatMap(({ selectors }) => selectors.map(({ metric }) => metric)));
    const names = [...series.keys()].filter((name) => !/_(sum|count)$/.test(name));
    expect(names.filter((name) => !asked.has(name))).toEqual([]);
  });
});

test('the text of an alert uses only labels of its expression', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, annotations } of rules) {
    const { selectors, groupings } = partsOf(expr);
    const isGrouped = /^(?:time\(\) - )?(?:sum|max) by/.test(expr);
    const left = isGrouped ? groupings : selectors.flatMap(({ metric }) => series.get(metric) ?? []);
    const named = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)]);
    const labels = named.map(([, label = '']) => label);
    expect(
      labels.filter((label) => !left.includes(label)),
      alert,
    ).toEqual([]);
    expect(annotations['summary']).toBeDefined();
  }
});

test('the job of the alerts is the one of the scrape configuration, which names their file', () => {
  const configuration = parse(read('prometheus.yml'));
  expect(configuration.rule_files).toEqual(['alerts.yml']);
  expect(configuration.scrape_configs).toContainEqual(expect.objectContaining({ job_name: 'cqbatch' }));
});

test('the panels of the dashboard have unique ids and existing variables', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const known = ['__rate_interval', '__all', ...templating.list.map(({ name }) => name)];
  const used = [...JSON.stringify(panels).matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
});
