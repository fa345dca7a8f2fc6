import { expect, test } from 'vitest';
import { formatProblem } from '../../../../src/engine/rows/problem.ts';
import { sheetOf } from '../../../fixtures/workbooks/dialects.ts';
import { zipped } from '../../../fixtures/workbooks/zip.ts';
import { allRows, failure, openText } from '../reading.ts';

const header = 'soundboard_id,title,description\n';

async function problemsOf(...manifest: Parameters<typeof openText>): Promise<readonly string[]> {
  const rows = await allRows(await openText(...manifest));
  return rows.flatMap((row) => (row.problem === undefined ? [] : [formatProblem('a', row, row.problem)]));
}

const why =
  'has lines that look like rows, as when a quote opens by mistake; double that quote, or pass --trust-quotes if the text is meant';

test.each([
  [
    'several rows',
    '1,a,b\n2,"Greeting,c\n3,d,e\n4,f",g\n5,h,i\n',
    `a:3: row 2, title: ${why} (lines 4 to 5: 3,d,e)`,
  ],
  ['the beginning of one row', '2,"Greeting,c\r\n4,f",g\r\n', `a:2: row 1, title: ${why} (line 3: 4,f,g)`],
  [
    'rows up to the last cell',
    '2,a,"b\n3,c,d\n4,e,f"\n',
    `a:2: row 1, description: ${why} (lines 3 to 4: 3,c,d)`,
  ],
  [
    'rows with texts that nothing quotes',
    '2,"Hello,c\n3,d, and more,e\n4,f",g\n',
    `a:2: row 1, title: ${why} (lines 3 to 4: 3,d, and more,e)`,
  ],
])('a cell that takes in %s is invalid', async (_what, text, problem) => {
  expect(await problemsOf('a', header + text)).toEqual([problem]);
  expect(await problemsOf('a', header + text, { trustQuotes: true })).toEqual([]);
});

test('so it is with other delimiters, other identifiers, and in a workbook made of such a file', async () => {
  const rows = 'user;when;queue\nu-17;"Mon;q-1\nu-18;Tue";q-2\n';
  expect(await problemsOf('a', rows)).toEqual([`a:2: row 1, when: ${why} (line 3: u-18;Tue;q-2)`]);
  const cells = ['2', 'Greeting,c\n3,d,e\n4,f', 'g'];
  const xml = (texts: readonly string[], row: number) =>
    `<row r="${row}">${texts.map((text, index) => `<c r="${'ABC'[index]}${row}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`).join('')}</row>`;
  const workbook = zipped(sheetOf(xml(['soundboard_id', 'title', 'description'], 1) + xml(cells, 2)));
  expect(await problemsOf('a.xlsx', workbook)).toEqual([`a:2: row 1, title: ${why} (lines 3 to 4: 3,d,e)`]);
  expect(await problemsOf('a.xlsx', workbook, { trustQuotes: true })).toEqual([]);
});

test('a column name that takes in rows is an error of the file', async () => {
  const error = await failure('a', 'evaluation_id,"user_id,note\n1,u1,x\n2,u2",y\n3,u3,z\n');
  expect(error.message).toContain('a:1:1: a column name has lines that look like rows');
});

/** As exports have them: descriptions, addresses, lists, notes with dates, signatures, decimals. */
test.each([
  'Used by all queues.\nAsk Ann, the lead, before you change it.',
  'Jane Doe\n12 Main Street, Apt. 4, Springfield\n62701 Springfield, IL, USA',
  '1. Greet the caller\n2. Say your name, the queue, and the reason\n3. Listen, wait, and answer',
  '1) Open, close, lock\n2) Wait, call, ask',
  '- 5, 6, 7\n- 8, 9, 10',
  '2026-11-16 10:00 called the customer, left a message, no answer\n2026-11-17 called again, done, closed',
  'Prices:\n3, 4, and 5 euros\n1,5 Stunden',
  '131 was restored,\n991 was not,\nsee the list',
  'He said "yes, of course, at once"\nand left, too, later',
  'a\n\nb\n',
])('a text of several lines passes untouched: %j', async (text) => {
  const quoted = `"${text.replaceAll('"', '""')}"`;
  const csv = `${header}1,"Greeting, short",${quoted}\n2,${quoted},x\n`;
  expect(await problemsOf('a', csv)).toEqual([]);
  const rows = await allRows(await openText('a', csv));
  expect(rows.map(({ cells }) => [cells['title'], cells['description']])).toEqual([
    ['Greeting, short', text],
    [text, 'x'],
  ]);
  const textFirst = `description,soundboard_id,title\n${quoted},7,x\n`;
  expect(await problemsOf('a', textFirst)).toEqual([]);
});
