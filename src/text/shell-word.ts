/**
 * A text as one word of a command line that can be pasted into a shell: in double quotes, which every shell knows, as
 * long as nothing in it means something there, else in single ones.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./~-]+$/.test(text)) return text;
  return /["$`\\!%]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
