import type { Delimiter } from '../../base/text/delimiter.ts';

/** Without it, Excel reads UTF-8 as the system's legacy code page. */
export const byteOrderMark = '\ufeff';

/** RFC 4180, but with LF line ends. A library takes four times as long. */
export function csvText(records: readonly (readonly string[])[], delimiter: Delimiter = ','): string {
  const needsQuotes = new RegExp(`["${delimiter}\\r\\n]`);
  const cell = (text: string): string => (needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  let text = '';
  for (const record of records) text += `${record.map(cell).join(delimiter)}\n`;
  return text;
}
