import { expect, test } from 'vitest';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import { reportHead, reportSummary } from '../../../../src/engine/report/html/report-head.ts';
import { pageDataOf, type Reported } from './reported.ts';

/** The text of the summary, without its elements. */
async function summaryOf(reported: Reported): Promise<string> {
  return htmlOf(reportSummary(await pageDataOf(reported)));
}

function commandsIn(html: string): readonly (string | undefined)[] {
  return [...html.matchAll(/data-copy="([^"]*)"/g)].map(([, command]) => command);
}

const rows = '5 succeeded OK, 2 failed NOT_FOUND, 3 failed UNAVAILABLE (1 unclear), 1 invalid INVALID_ROW';

test('each code that needs the reader has a card; a command is there where it can help', async () => {
  const html = await summaryOf({ told: rows });
  expect([...html.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, text]) => text?.replace(/<[^>]*>/g, ''))).toEqual([
    '1 unclear',
    '3 failed UNAVAILABLE',
    '2 failed NOT_FOUND',
    '1 invalid INVALID_ROW',
  ]);
  expect(commandsIn(html)).toEqual(['cqbatch retry r-1 --unclear', 'cqbatch retry r-1 --code UNAVAILABLE']);
});

test.each<readonly [what: string, Reported, commands: readonly string[]]>([
  [
    'a stopped run is resumed as it says',
    { run: { state: 'halted', phase: 'stopped', resume: 'cqbatch resume r-1 --fast' }, told: rows },
    ['cqbatch resume r-1 --fast'],
  ],
  ['a run without failures needs none', { told: '5 succeeded OK' }, []],
  ['a run in progress needs none', { run: { state: 'running', phase: 'in progress' }, told: rows }, []],
  [
    'the rest of a cancelled run can be retried',
    { run: { state: 'cancelled' }, told: '5 not_attempted CANCELLED' },
    ['cqbatch retry r-1 --code CANCELLED'],
  ],
])('commands: %s', async (_what, reported, commands) => {
  expect(commandsIn(await summaryOf(reported))).toEqual(commands);
});

test('the head has the facts of the run, and rows that count for no call', async () => {
  const why = { reason: 'too many failures', by: 'u on m', purpose: '<ticket>' };
  const run = { state: 'halted', phase: 'stopped', ...why } as const;
  const html = htmlOf(reportHead(await pageDataOf({ run, told: '1 succeeded OK, 2 duplicate DUPLICATE' })));
  const facts = ['too many failures', 'u on m', '&#60;ticket&#62;', 'https://api.example'];
  for (const text of [...facts, '2 rows are duplicates']) expect(html).toContain(text);
});
