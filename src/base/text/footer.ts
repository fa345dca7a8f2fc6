const words = [
  'rows?|records?|lines?|entries|results?|items?|rows? (?:affected|exported|selected)',
  'zeilen?|datens[äa]tze?|eintr[äa]ge?|lignes?|filas?|registros?|righe|rijen',
].join('|');

const footer = new RegExp(
  `^\\W*(?:(?:(?:grand|sub)?[ -]?total|sum|count|summe|gesamt|anzahl|suma|totale|somme|totaal)\\b|[\\d.,' ]+(?:${words})\\b|end of (?:report|file|export)\\b)`,
  'i',
);

/** What exports write below a table: `Total: 300`, `(3 rows)`, `3 rows exported`. */
export function isFooter(text: string): boolean {
  return footer.test(text.normalize('NFC'));
}

export const footerProblem = 'seems to be a line below the table, such as a total; delete it';
