import { mayPassAgain } from '../../domain/codes.ts';
import type { Outcome } from '../../domain/terms.ts';

/** A longer command in a terminal can't be read. */
const usualMostCodes = 4;

/**
 * Undefined if no failure is transient; limited to those if not all are.
 *
 * @param mostCodes with more transient codes, the command takes all rows that failed
 */
export function retryCommand(
  id: string,
  codes: readonly { readonly outcome: Outcome; readonly code: string }[],
  mostCodes = usualMostCodes,
): readonly string[] {
  const open = codes.filter(({ outcome }) => outcome === 'failed' || outcome === 'not_attempted');
  const hopeful = [...new Set(open.map(({ code }) => code).filter(mayPassAgain))];
  if (hopeful.length === 0) return [];
  const isAll = open.every(({ code }) => hopeful.includes(code));
  return [
    isAll || hopeful.length > mostCodes
      ? `cqbatch retry ${id}`
      : `cqbatch retry ${id} --code ${hopeful.join(' ')}`,
  ];
}
