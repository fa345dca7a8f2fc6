import { isDeepStrictEqual } from 'node:util';

export interface DifferingOption {
  readonly name: string;
  readonly before: unknown;
  readonly now: unknown;
}

export function differingOptions(before: object, now: object): readonly DifferingOption[] {
  const had: Readonly<Record<string, unknown>> = { ...before };
  const has: Readonly<Record<string, unknown>> = { ...now };
  return [...new Set([...Object.keys(has), ...Object.keys(had)])]
    .map((name) => ({ name, before: had[name], now: has[name] }))
    .filter((option) => !isDeepStrictEqual(option.before, option.now));
}
