const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `500ms`, `1.5s`, `2m`, `1h`; a bare number is seconds. Undefined for any other text. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  if (amount === undefined) return undefined;
  // 1.1 s is 1100 ms, in spite of floating point.
  return Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs] * 1_000) / 1_000;
}

/** A duration as `readDuration` reads it: `500ms`, `90s`, `15m` */
export function typedDuration(ms: number): string {
  const units = Object.entries(unitMs).toReversed();
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

/** `12,345`. Loading the rules of all languages would delay the start of every command. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 row`, `12,345 rows`; with a verb `1 row leaves`, `2 rows leave`. */
export function counted(value: number, noun: string, verb?: readonly [one: string, more: string]): string {
  const words = value === 1 ? [noun, verb?.[0]] : [`${noun}s`, verb?.[1]];
  return [count(value), ...words.filter((word) => word !== undefined)].join(' ');
}

/** A typed number without the signs that group its digits: `3000` of `3,000`. */
export function typedDigits(text: string): string {
  return text.replaceAll(/[\s,.'’_]/g, '');
}

/** `640/s`, `0.5/s` */
export function perSecond(value: number): string {
  return `${value < 10 ? Number(value.toPrecision(2)) : count(value)}/s`;
}

export function rateText(value: number, noun: 'calls' | 'rows'): string {
  return perSecond(value).replace('/s', ` ${noun}/s`);
}

/** `12 bytes`, `340 kB`, `1.25 GB`, `4 GB` */
export function size(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  if (power === 0) return counted(bytes, 'byte');
  const value = bytes / 1_000 ** power;
  return `${Number(value.toPrecision(3))} ${['', 'kB', 'MB', 'GB', 'TB'][power]}`;
}

/** `45 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return joined(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.round(whole / 60);
  return joined(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

/** `340 ms`, `12.3 s`; from a minute on like `duration` */
export function exactDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${Number((ms / 1_000).toFixed(1))} s` : duration(ms / 1_000);
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** `CSV, TSV or JSON` */
export function inWords(words: readonly string[], conjunction: 'and' | 'or'): string {
  return words.join(', ').replace(/, (?=[^,]*$)/, ` ${conjunction} `);
}
