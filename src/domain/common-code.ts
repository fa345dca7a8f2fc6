import { counted } from '../base/text/format.ts';

/** What most of the failures have in common: `all with A`, `mostly with A (7 rows)`, `most often with A (2 rows)`. */
export function commonCodeText(
  { code, rows }: { readonly code: string; readonly rows: number },
  failed: number,
): string {
  if (rows === failed) return `all with ${code}`;
  return `${rows * 2 > failed ? 'mostly' : 'most often'} with ${code} (${counted(rows, 'row')})`;
}
