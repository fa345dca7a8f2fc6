import { expect, test } from 'vitest';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import { planGroups, rowsText } from '../../../../src/engine/report/plan-page/plan-groups.ts';
import { planEnd, planHead, planVerdict } from '../../../../src/engine/report/plan-page/plan-head.ts';
import type { PlanFacts } from '../../../../src/engine/report/plan-page/plan-page-data.ts';
import { lastingText, undoableText } from '../../../../src/engine/report/plan-page/undo-texts.ts';
import type { DecidedRow } from '../../../../src/engine/rows/row.ts';
import { invalidRow } from '../../../helpers/planned-row.ts';
import { act, edit, plannedPage } from '../../../pages/browser/plan/planned-page.ts';

const mixed = [
  act(1, 'a'),
  act(2, 'b'),
  edit(3, { id: 'c', title: 'New' }, { old: { title: 'Old' } }),
  edit(4, { id: 'd', title: '', note: 'n' }, { old: { title: 'Old' } }),
  edit(5, { id: 'e', note: 'n' }),
];

async function dataOf(rows: readonly DecidedRow[], facts: Partial<PlanFacts> = {}) {
  return (await plannedPage(rows, () => [], facts)).data;
}

const refused = { refusals: ['1 row of a.csv is invalid; fix it or pass --skip-invalid.'] };

test.each<[verdict: string, rows: readonly DecidedRow[], facts?: Partial<PlanFacts>]>([
  ['5 calls will restore 2 boards and rename 3 boards.', mixed],
  ['1 call will restore 1 board.', [act(1, 'a')]],
  ['Nothing will be called.', []],
  ['Not ready: nothing to call.', [invalidRow(1)], refused],
  [
    'Not ready: nothing is sent. As it is, 1 call would restore 1 board.',
    [act(1, 'a'), invalidRow(2)],
    refused,
  ],
])('%s', async (verdict, rows, facts) => {
  expect(planVerdict(await dataOf(rows, facts))).toBe(verdict);
});

test('chips have the counts of rows', async () => {
  expect(planGroups(await dataOf([...mixed, invalidRow(6)])).map(rowsText)).toEqual([
    '6 rows',
    '1 invalid',
    '2 restores',
    '3 edits',
    '1 clears a field',
  ]);
});

test('says what can be undone, and how to make more of it', async () => {
  const data = await dataOf(mixed);
  expect(undoableText(data)).toBe('1 edit, 1 edit in part');
  expect(lastingText(data)).toBe('2 restores, 1 edit (old values are unknown; --compare reads them)');
  expect(lastingText(await dataOf(mixed, { compared: [] }))).toBe(
    '2 restores, 1 edit (old values are unknown)',
  );
});

test.each<[shown: string, facts: Partial<PlanFacts>]>([
  ['5 calls to <b>https://api.example</b>', {}],
  ['· first run against this address', { target: { baseUrl: 'https://api.example', isNew: true } }],
  ['5 calls, and no address: pass --base-url', { target: undefined }],
  ['about 1 s at 20 calls/s<', {}],
  ['if the API permits as much as last time', { rate: { perSecond: 4, isWanted: false } }],
  ['as long as the API’s limits make it', { rate: undefined }],
  ['fix it or pass <span class="option">--skip-invalid</span>.', refused],
  ['Warning: &#60;b&#62;', { warnings: ['<b>'] }],
  ['as r-7 (completed)', { earlier: { id: 'r-7', state: 'completed' } }],
])('the head says: %s', async (shown, facts) => {
  expect(htmlOf(planHead(await dataOf(mixed, facts)))).toContain(shown);
});

test('the end has the SHA-256 and the command', async () => {
  const html = htmlOf(planEnd(await dataOf(mixed)));
  expect(html).toContain(`<code>${'a'.repeat(64)}</code>`);
  expect(html).toContain('<code>cqbatch run a.csv</code>');
  expect(htmlOf(planEnd(await dataOf(mixed, refused)))).toContain('then plan again');
});
