import { mayPassAgain } from '../../domain/codes.ts';
import type { Outcome } from '../../domain/terms.ts';

/** With more codes, a command in a terminal is too long to read. */
const usualMostCodes = 4;

/**
 * `cqbatch retry`, if some failures are transient; limited to their codes if not all are.
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
