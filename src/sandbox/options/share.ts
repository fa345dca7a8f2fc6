import { usageError } from '../../errors.ts';

/** A share of a whole in millionths: exact for percentages of up to four decimals. */
export type Millionths = number;

export const whole: Millionths = 1_000_000;

/**
 * Reads a share: a percentage such as `2%` or `0.05%`, from 0 to 100, of up to four decimals.
 *
 * @throws CqbatchError `INVALID_OPTION`
 */
export function parseShare(option: string, text: string): Millionths {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text.trim()) ?? [];
  const share = Math.round(Number(digits) * 10_000);
  if (digits === undefined || share > whole) {
    throw usageError(
      'INVALID_OPTION',
      `${option}: ${JSON.stringify(text)} is no share; write a percentage from 0% to 100%, such as 0.5%`,
    );
  }
  return share;
}

/**
 * Whether an identifier belongs to a share that is spread evenly over the identifiers from 1: with 2 %, every 50th.
 * Of those that come round together, `first` (0 to 1) moves where in its round each one stands.
 */
export function isInShare(identifier: number, share: Millionths, first = 1): boolean {
  return (identifier * share + Math.round((1 - first) * whole)) % whole < share;
}
