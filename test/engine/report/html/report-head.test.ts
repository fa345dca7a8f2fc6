import { expect, test } from 'vitest';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import { reportHead, reportSummary } from '../../../../src/engine/report/html/report-head.ts';
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

test('the ledger adds up to all rows, and says how many of each outcome are to check', async () => {
  const html = await summaryOf({ told: `${rows}, 4 succeeded ALREADY_APPLIED (2 unclear)` });
  const [ledger = ''] = /<ul.*?<\/ul>/.exec(html) ?? [];
  expect(textsOf(ledger, /<li[^>]*>(.*?)<\/li>/g)).toEqual([
    '9 succeeded (2 to check)',
    '5 failed (1 to check)',
    '1 invalid',
    '= 15 rows',
  ]);
});

test('the steps are numbered; a command is there where it can help, and says which rows to check first', async () => {
  const html = await summaryOf({ told: `${rows}, 2 failed NOT_REPEATED (2 unclear)` });
  expect(textsOf(html, /<h3>(.*?)<p>/g)).toEqual([
    'Check 3 rows in the service',
    'Retry 3 rows1 unclear: check first',
    'Correct 3 rows',
    'Decide about 2 rowsall 2 unclear: check first',
  ]);
  expect(commandsIn(html)).toEqual(['cqbatch retry r-1 --code UNAVAILABLE', 'cqbatch run r-1-correct.csv']);
});

test('a stopped run itself calls failed rows without a result again', async () => {
  const run = { state: 'interrupted', phase: 'stopped' } as const;
  const told = '3 failed INTERRUPTED (3 unclear), 2 failed UNAVAILABLE, 4 not_attempted INTERRUPTED';
  const html = await summaryOf({ run, told });
  expect(textsOf(html, /<h3>(.*?)<\/h3>/g)).toEqual([
    'Continue the run: 4 rows are left',
    'Check 3 rows in the service',
    'Retry 2 rows',
  ]);
  expect(html).toContain('It also calls the 3 failed rows without a result again.');
});

test('a stopped run does not call rows again that the API has cancelled', async () => {
  const run = { state: 'interrupted', phase: 'stopped' } as const;
  const html = await summaryOf({ run, told: '2 failed CANCELLED, 4 not_attempted INTERRUPTED' });
  expect(textsOf(html, /<h3>(.*?)<\/h3>/g)).toEqual(['Continue the run: 4 rows are left', 'Retry 2 rows']);
  expect(html).not.toContain('It also calls');
});

test('the summary to send has the verdict, the ledger and the steps', async () => {
  const html = await summaryOf({ told: rows });
  expect(/data-copy="(5 of[^"]*)"/.exec(html)?.[1]?.split('\n')).toEqual([
    '5 of 11 evaluations restored. 6 rows need you.',
    '5 succeeded, 5 failed (1 to check), 1 invalid = 11 rows',
    '1. Check 1 row in the service',
    '2. Retry 3 rows (1 unclear: check first): cqbatch retry r-1 --code UNAVAILABLE',
    '3. Correct 3 rows: cqbatch run r-1-correct.csv',
    'Run r-1 of m.csv, https://api.example',
  ]);
});

test.each<readonly [what: string, Reported, commands: readonly string[]]>([
  [
    'a stopped run is resumed',
    { run: { state: 'halted', phase: 'stopped' }, told: rows },
    ['cqbatch resume r-1'],
  ],
  [
    'a run that would stop again shows the row to look at, before it is resumed',
    { run: { state: 'halted', phase: 'stopped', next: 'cqbatch show r-1 --row 7' }, told: rows },
    ['cqbatch show r-1 --row 7', 'cqbatch resume r-1'],
  ],
  [
    'a retry names all its codes, however many, so that it leaves out rows that must not be repeated',
    {
      told: '1 failed UNAVAILABLE, 1 failed INTERNAL, 1 failed ABORTED, 1 failed UNKNOWN, 1 failed BAD_GATEWAY, 2 failed NOT_REPEATED',
    },
    ['cqbatch retry r-1 --code UNAVAILABLE INTERNAL ABORTED UNKNOWN BAD_GATEWAY'],
  ],
  ['a run without failures needs none', { told: '5 succeeded OK' }, []],
  ['a run in progress needs none', { run: { state: 'running', phase: 'in progress' }, told: rows }, []],
  [
    'the rest of a cancelled run can be retried',
    { run: { state: 'cancelled' }, told: '5 not_attempted CANCELLED' },
    ['cqbatch retry r-1'],
  ],
])('commands: %s', async (_what, reported, commands) => {
  expect(commandsIn(await summaryOf(reported))).toEqual(commands);
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
