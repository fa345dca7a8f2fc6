/** What programs write where a table has no value: below its last row, or in an empty cell. */

const countedWords = [
  'rows?|records?|lines?|entries|results?|items?|rows? (?:affected|exported|selected)',
  'zeilen?|datens[äa]tze?|eintr[äa]ge?|lignes?|filas?|registros?|righe|rijen',
].join('|');

const footer = new RegExp(
  `^\\W*(?:(?:(?:grand|sub)?[ -]?total|sum|count|summe|gesamt|anzahl|suma|totale|somme|totaal)\\b|[\\d.,' ]+(?:${countedWords})\\b|end of (?:report|file|export)\\b)`,
  'i',
);

/** What exports write below a table: `Total: 300`, `(3 rows)`, `3 rows exported`. */
export function isFooter(text: string): boolean {
  return footer.test(text.normalize('NFC'));
}

export const footerProblem = 'seems to be a line below the table, such as a total; delete it';

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

const longestWord = Math.max(...[...wordsForNothing].map(({ length }) => length));

/** Probably a program's word for a missing value: `NULL`, `\N`, `nan`. */
export function isWordForNothing(text: string): boolean {
  return text.length <= longestWord && wordsForNothing.has(text.toLowerCase());
}
