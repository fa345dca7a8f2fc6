import { expect, test } from 'vitest';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import { reportHead, reportSummary } from '../../../../src/engine/report/html/report-head.ts';
import { countOf } from '../../../../src/engine/report/html/row-groups.ts';
import { pageDataOf, type Reported } from './reported.ts';

/** The text of the summary, without its elements. */
async function summaryOf(reported: Reported): Promise<string> {
  return htmlOf(reportSummary(await pageDataOf(reported)));
}

function commandsIn(html: string): readonly (string | undefined)[] {
  return [...html.matchAll(/data-copy="(cqbatch [^"]*)"/g)].map(([, command]) => command);
}

const rows = '5 succeeded OK, 2 failed NOT_FOUND, 3 failed UNAVAILABLE (1 unclear), 1 invalid INVALID_ROW';

/** The text of the parts that a pattern finds, without elements. */
function textsOf(html: string, pattern: RegExp): readonly string[] {
  return [...html.matchAll(pattern)].map(([, text = '']) => text.replace(/<[^>]*>/g, '').trim());
}

test('the ledger adds up to all rows, and says how many of each outcome are unclear', async () => {
  const html = await summaryOf({ told: `${rows}, 4 succeeded ALREADY_APPLIED (2 unclear)` });
  const [ledger = ''] = /<ul.*?<\/ul>/.exec(html) ?? [];
  expect(textsOf(ledger, /<li[^>]*>(.*?)<\/li>/g)).toEqual([
    '9 succeeded (2 unclear)',
    '5 failed (1 unclear)',
    '1 invalid',
    '= 15 rows',
  ]);
});

test('the steps are numbered; each shows its rows, and says how many of them are unclear', async () => {
  const html = await summaryOf({ told: `${rows}, 2 failed NOT_REPEATED (2 unclear)` });
  expect(textsOf(html, /<h3>(.*?)<p>/g)).toEqual([
    'Check 3 unclear rows in the service',
    'Retry 3 rows1 unclear',
    'Correct 3 rows',
    'Decide about 2 rowsall 2 unclear',
  ]);
  expect(textsOf(html, /data-show="(?:all unclear|retry|correct|decide)">(Show.*?)<\/a>/g)).toEqual(
    [3, 3, 3, 2].map((number) => `Show the ${number} rows`),
  );
  expect(commandsIn(html)).toEqual([
    'cqbatch check r-1',
    'cqbatch retry r-1 --transient',
    'cqbatch run runs/r-1/correct.csv',
  ]);
});

test.each<readonly [string, Reported]>([
  ['ended', { told: rows }],
  ['stopped', { run: { state: 'interrupted', phase: 'stopped' }, told: `${rows}, 3 failed INTERRUPTED` }],
  [
    'cancelled',
    { run: { state: 'cancelled' }, told: `${rows}, 5 not_attempted CANCELLED, 2 failed CANCELLED` },
  ],
])('a step counts the rows that its link shows: %s', async (_state, reported) => {
  const data = await pageDataOf(reported);
  expect(data.steps.length).toBeGreaterThan(2);
  for (const { group, rows: counted } of data.steps)
    expect([group, countOf(group, data)]).toEqual([group, counted]);
});

test('the summary to send has the verdict, the ledger and the steps', async () => {
  const html = await summaryOf({ told: rows });
  expect(/data-copy="(5 of[^"]*)"/.exec(html)?.[1]?.split('\n')).toEqual([
    '5 of 11 evaluations restored, 1 more may have been. 5 rows failed, 1 is invalid.',
    '5 succeeded, 5 failed (1 unclear), 1 invalid = 11 rows',
    '1. Check 1 unclear row in the service: cqbatch check r-1',
    '2. Retry 3 rows (1 unclear): cqbatch retry r-1 --transient',
    '3. Correct 3 rows: cqbatch run runs/r-1/correct.csv',
    'Run r-1 of m.csv, https://api.example',
  ]);
});

test('the head has the facts of the run, and the times that its duration leaves out', async () => {
  const why = { reason: 'too many failures', by: 'u on m', purpose: '<ticket>' };
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
  const stops = [
    { from: at(0), to: at(8), state: 'paused' },
    { from: at(20), to: at(80), state: 'interrupted' },
    { from: at(90), to: at(130), state: 'paused' },
  ];
  const run = { state: 'halted', phase: 'stopped', stops, ...why } as const;
  const html = htmlOf(reportHead(await pageDataOf({ run, told: '1 succeeded OK' })));
  const facts = ['too many failures', 'u on m', '&#60;ticket&#62;', 'https://api.example'];
  for (const text of [...facts, '1 s, 48 s paused, 1 min interrupted', '1 rows/s'])
    expect(html).toContain(text);
});
