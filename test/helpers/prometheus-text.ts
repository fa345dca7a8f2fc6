/** One line with a value. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with all its lines. */
interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const name = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const labelName = '[a-zA-Z_][a-zA-Z0-9_]*';
const labelPair = `(${labelName})="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"`;
const sampleLine = new RegExp(`^(${name})(?:\\{(${labelPair}(?:,${labelPair})*)\\})? (\\S+)$`);
const number = /^(?:[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|Inf)|NaN)$/i;

/**
 * Reads the text format of Prometheus, and refuses more than Prometheus does: violations of its recommendations, and names that
 * do not fit their types.
 *
 * @throws an Error that names the line
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  const series = new Set<string>();
  let help: { readonly of: string; readonly text: string } | undefined;
  let current: string | undefined;
  for (const [index, line] of text.slice(0, -1).split('\n').entries()) {
    const refuse = (why: string): never => {
      throw new Error(`line ${index + 1}: ${why}: ${line}`);
    };
    if (line === '') continue;
    const [, helpOf, helpText = ''] = new RegExp(`^# HELP (${name}) (.+)$`).exec(line) ?? [];
    if (helpOf !== undefined) {
      if (help !== undefined) refuse('HELP without TYPE before it');
      if (/\\[^\\n]/.test(helpText)) refuse('an escape that there is not');
      help = { of: helpOf, text: helpText };
      continue;
    }
    const [, typeOf, type = ''] = new RegExp(`^# TYPE (${name}) (.+)$`).exec(line) ?? [];
    if (typeOf !== undefined) {
      if (help?.of !== typeOf) refuse('TYPE without its HELP before it');
      if (families.has(typeOf)) refuse('the metric was there before');
      if (!types.includes(type)) refuse('an unknown type');
      if ((type === 'counter') !== typeOf.endsWith('_total'))
        refuse('counters, and no others, end in _total');
      families.set(typeOf, { type, help: help?.text ?? '', samples: [] });
      help = undefined;
      current = typeOf;
      continue;
    }
    if (line.startsWith('#')) refuse('neither HELP nor TYPE');
    const match = sampleLine.exec(line) ?? refuse('no sample');
    const [, sampleName = '', labelText = ''] = match;
    const valueText = match.at(-1) ?? '';
    const family = families.get(current ?? '');
    if (help !== undefined || current === undefined || family === undefined)
      return refuse('no TYPE before it');
    const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!suffixes.some((suffix) => sampleName === `${current}${suffix}`)) refuse('not of this metric');
    const pairs = [...labelText.matchAll(new RegExp(labelPair, 'g'))].map(([, key = '', value = '']) => [
      key,
      unescaped(value),
    ]);
    const labels: Readonly<Record<string, string>> = Object.fromEntries(pairs);
    if (Object.keys(labels).length !== pairs.length) refuse('a label twice');
    const key = JSON.stringify([sampleName, Object.entries(labels).toSorted()]);
    if (series.has(key)) refuse('the series was there before');
    series.add(key);
    if (!number.test(valueText)) refuse('no number');
    const value = Number(valueText.replace(/Inf/i, 'Infinity'));
    if (family.type === 'counter' && !(value >= 0)) refuse('a counter below 0');
    family.samples.push({ name: sampleName, labels, value });
  }
  for (const [of, family] of families) if (family.type === 'histogram') checkHistogram(of, family.samples);
  return families;
}

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples)
    groups.set(withoutLe(sample), [...(groups.get(withoutLe(sample)) ?? []), sample]);
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const count = group.find((sample) => sample.name === `${name}_count`)?.value;
    const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('Inf', 'Infinity')));
    const isSorted = bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? 0));
    const isMonotone = buckets.every(({ value }, index) => value >= (buckets[index - 1]?.value ?? 0));
    const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY && buckets.at(-1)?.value === count;
    const hasSum = group.some((sample) => sample.name === `${name}_sum`);
    if (!isSorted || !isMonotone || !isWhole || !hasSum) throw new Error(`${name} is no histogram.`);
  }
}

function withoutLe({ labels }: Sample): string {
  const { le: _, ...others } = labels;
  return JSON.stringify(Object.entries(others).toSorted());
}

/** The sum of the samples of a metric, by the value of a label. */
export function sumsBy(
  families: ReturnType<typeof parsePrometheusText>,
  metric: string,
  label: string,
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { labels, value } of families.get(metric)?.samples ?? []) {
    const key = labels[label] ?? '';
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}

/** The value of a metric without labels of its own; undefined when it is absent. */
export function gaugeOf(
  families: ReturnType<typeof parsePrometheusText>,
  metric: string,
): number | undefined {
  const family = families.get(metric);
  if (family === undefined) throw new Error(`${metric} is not there.`);
  return family.samples[0]?.value;
}
