/** What may separate the cells of delimited text, in order of preference. */
export const delimiters = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof delimiters)[number];

/** What people call them where they can't be typed, or are read as something else. */
export const delimiterNames: Readonly<Record<string, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};

/** How many records at the beginning are looked at. */
const sampledRecords = 20;

/**
 * Finds out what separates the cells: the character that cuts the header into several cells and the most of the
 * first records into as many as the header; of equals the one that gives more cells. Quoted text does not count.
 *
 * @param head beginning of the text; when it is not `complete`, its last record is not looked at.
 * @param fallback for text with one column.
 */
export function detectDelimiter(head: string, complete: boolean, fallback: Delimiter): Delimiter {
  let best = { delimiter: fallback, agreement: 0, cells: 1 };
  for (const delimiter of [fallback, ...delimiters]) {
    const [header = 1, ...others] = countCells(head, complete, delimiter);
    if (header < 2) continue;
    const agreeing = others.filter((cells) => cells === header).length;
    const agreement = others.length === 0 ? 1 : agreeing / others.length;
    if (agreement > best.agreement || (agreement === best.agreement && header > best.cells)) {
      best = { delimiter, agreement, cells: header };
    }
  }
  return best.delimiter;
}

/** The number of cells of each of the first records that are not blank; 0 where text follows a closing quote. */
function countCells(text: string, complete: boolean, delimiter: Delimiter): readonly number[] {
  const counts: number[] = [];
  let cells = 1;
  let cellStart = 0;
  let recordStart = 0;
  let quoted = false;
  let broken = false;
  for (let index = 0; index < text.length && counts.length < sampledRecords; index++) {
    const character = text[index];
    if (quoted) {
      // A doubled quote ends and begins again at once, which counts nothing.
      if (character === '"') quoted = false;
    } else if (character === '"' && (index === cellStart || text[index - 1] === '"')) {
      quoted = true;
    } else if (character === delimiter) {
      cells++;
      cellStart = index + 1;
    } else if (character === '\n' || character === '\r') {
      if (index > recordStart) counts.push(broken ? 0 : cells);
      cells = 1;
      broken = false;
      cellStart = recordStart = index + 1;
    } else if (text[cellStart] === '"') {
      broken = true;
    }
  }
  if (complete && recordStart < text.length && counts.length < sampledRecords)
    counts.push(broken ? 0 : cells);
  return counts;
}
