import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvText, delimiters } from '../../../src/base/text/delimiter.ts';
import { cellText, guardFor } from '../../../src/base/text/formula-guard.ts';

/** Cells as a spreadsheet reads them with the given delimiter: nothing is an error. */
function lenientCells(text: string, delimiter: string): readonly string[] {
  const cells: string[] = [];
  let cell = '';
  let state: 'start' | 'plain' | 'quoted' = 'start';
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string;
    if (state === 'quoted' && character !== '"') cell += character;
    else if (state === 'quoted' && text[index + 1] === '"') cell += text[index++];
    else if (state === 'quoted') state = 'plain';
    else if (state === 'start' && character === '"') state = 'quoted';
    else if (character === delimiter || character === '\n' || character === '\r') {
      cells.push(cell);
      cell = '';
      state = 'start';
    } else {
      cell += character;
      state = 'plain';
    }
  }
  return [...cells, cell];
}

const parts = ['=SUM(1)', '-1', '\r\n', ...`=+@'";|\t\n, \0a`];
const cell = fc.array(fc.constantFrom(...parts), { maxLength: 6 }).map((chosen) => chosen.join(''));

const pairs = delimiters.flatMap((written) => delimiters.map((read) => [written, read] as const));

test.each(pairs)(
  'where %j is written, a program that cuts at %j finds no formula in any cell',
  (written, read) => {
    const guard = guardFor(written);
    let cut = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 4 }), (rows) => {
        const cells = rows.map((row) => ['id', ...row.map((each) => cellText(each, '<clear>', guard))]);
        const found = lenientCells(csvText(cells, written), read);
        if (found.length !== rows.length * 3 + 1) cut++;
        for (const each of found) {
          // Numbers stay as they are, even after a tab that was meant to end a cell.
          if (!/^[\s\p{Cc}"]*[+-]?\d+(?:[\s"]|$)/u.test(each))
            expect(each).not.toMatch(/^[\s\p{Cc}"]*[=+\-@]/u);
        }
      }),
      { numRuns: 300 },
    );
    expect(cut > 0).toBe(written !== read);
  },
);
