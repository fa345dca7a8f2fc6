/** In double quotes, which every shell knows, or, if the text contains characters with a meaning inside them, in single quotes. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./~-]+$/.test(text)) return text;
  return /["$`\\!%]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
