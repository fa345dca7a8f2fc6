import { count, counted } from '../base/text/format.ts';

interface CodeOfRows {
  readonly code: string;
  readonly rows: number;
}

/** What most of the failures have in common: `all with A`, `mostly with A (7 rows)`, `most often with A (2 rows)`. */
export function commonCodeText({ code, rows }: CodeOfRows, failed: number): string {
  if (rows === failed) return `all with ${code}`;
  return `${rows * 2 > failed ? 'mostly' : 'most often'} with ${code} (${counted(rows, 'row')})`;
}

/**
 * How many of the called rows failed, at least one, and with what code most of them: `All 20 called rows failed, all with A.`, `7 of 93
 * called rows failed, most often with A (3 rows).`, `The only called row failed, with A.`
 */
export function failedRowsText(failed: number, called: number, most: CodeOfRows | undefined): string {
  if (called === 1) return `The only called row failed${most === undefined ? '' : `, with ${most.code}`}.`;
  const rows = counted(called, 'called row');
  const which = failed === called ? `All ${rows}` : `${count(failed)} of ${rows}`;
  return `${which} failed${most === undefined ? '' : `, ${commonCodeText(most, failed)}`}.`;
}
