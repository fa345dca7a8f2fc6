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

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * Reads pages in the text format of Prometheus, as prom-client writes them.
 *
 * @throws an Error that names the line: one that is no sample of the metric above it, or a series that was there before
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  const series = new Set<string>();
  let current = '';
  let help = '';
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, keyword, of = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') help = rest;
    if (keyword === 'TYPE') families.set(of, { type: rest, help, samples: [] });
    if (keyword !== undefined) current = of;
    if (keyword !== undefined) continue;
    const [, name = '', labelText = '', value = ''] = sampleLine.exec(line) ?? [];
    const pairs = [...labelText.matchAll(labelPair)].map(([, key = '', label = '']) => [
      key,
      unescaped(label),
    ]);
    const family = families.get(current);
    const isOfFamily = name.startsWith(current) && value !== '';
    if (family === undefined || !isOfFamily || series.has(name + labelText)) throw new Error(line);
    series.add(name + labelText);
    family.samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return families;
}

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
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
