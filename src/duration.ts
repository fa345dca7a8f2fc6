const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/**
 * Milliseconds of a duration as all commands take it: `500ms`, `1.5s`, `2m`, `1h`; a bare number is seconds. Undefined
 * when it is none.
 */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  if (amount === undefined) return undefined;
  // 1.1 s are 1100 ms, whatever floating point makes of it.
  return Math.round(Number(amount) * unitMs[unit as keyof typeof unitMs] * 1_000) / 1_000;
}
