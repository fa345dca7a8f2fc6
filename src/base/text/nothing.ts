/** In lower case. */
const wordsForNothing: ReadonlySet<string> = new Set([
  ...['null', '\\n', 'nil', 'none', 'undefined', 'nan', 'nat', 'n/a', 'na'],
  ...[
    '(null)',
    '<null>',
    '[null]',
    '<na>',
    '<none>',
    '<nil>',
    '(none)',
    '(blank)',
    '(empty)',
    '[object object]',
  ],
]);

const longest = Math.max(...[...wordsForNothing].map(({ length }) => length));

/** Probably a program's word for a missing value: `NULL`, `\N`, `nan`. */
export function isWordForNothing(text: string): boolean {
  return text.length <= longest && wordsForNothing.has(text.toLowerCase());
}
