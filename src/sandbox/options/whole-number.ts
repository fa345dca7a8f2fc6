import { usageError } from '../../errors.ts';

/**
 * Reads a whole number from `min` to `max`.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseWholeNumber(
  option: string,
  value: string | number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const number = typeof value === 'number' || /^-?\d{1,16}$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (!Number.isInteger(number) || number < min || number > max) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: ${JSON.stringify(value)} is no whole number from ${min} to ${max}`,
    );
  }
  return number;
}
