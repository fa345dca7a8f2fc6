/**
 * One word of a command line that can be pasted: in double quotes, which every shell knows, if it contains nothing with a meaning inside
 * them, otherwise in single quotes.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./~-]+$/.test(text)) return text;
  return /["$`\\!%]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
