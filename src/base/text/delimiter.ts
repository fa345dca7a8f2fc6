/** Delimiters of text, in order of preference. */
export const delimiters = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof delimiters)[number];

/** Names for delimiters that are hard to type or ambiguous. */
export const delimiterNames: Readonly<Record<string, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};
