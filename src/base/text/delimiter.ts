/** Delimiters in order of preference. */
export const delimiters = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof delimiters)[number];

export const delimiterNames: Readonly<Record<string, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};

/** `comma` for `,` */
export function nameOfDelimiter(delimiter: string): string {
  const [name = delimiter] = Object.entries(delimiterNames).find(([, each]) => each === delimiter) ?? [];
  return name;
}
