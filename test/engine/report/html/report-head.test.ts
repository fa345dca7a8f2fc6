import { expect, test } from 'vitest';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import { reportHead, reportSummary } from '../../../../src/engine/report/html/report-head.ts';
import { verdictOf } from '../../../../src/engine/report/html/verdict.ts';
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
  ['a run in progress needs none', { run: { state: 'running', phase: 'in progress' }, told: rows }, []],
  ['a run without failures needs none', { told: '5 succeeded OK' }, []],
  [
    'the rest of a cancelled run can be retried',
    { run: { state: 'cancelled' }, told: '5 not_attempted CANCELLED' },
    ['cqbatch retry r-1 --code CANCELLED'],
  ],
])('commands: %s', async (_what, reported, commands) => {
  expect(commandsIn(await summaryOf(reported))).toEqual(commands);
});

/** The figures of the page: the number and the name of each. */
async function figuresOf(reported: Reported): Promise<readonly string[]> {
  const [figures = ''] = /<ul class="figures">.*?<\/ul>/s.exec(await summaryOf(reported)) ?? [];
  return [...figures.matchAll(/<b>(.*?)<\/b><span>(.*?)<\/span>/g)].map(
    ([, value, name]) => `${value} ${name}`,
  );
}

const told =
  '40 succeeded OK, 51 failed NOT_FOUND (1 unclear), 2 invalid INVALID_ROW, 1915 not_attempted HALTED';

const left = '1,915 not attempted';

test.each<readonly [NonNullable<Reported['run']>, figures: readonly string[]]>([
  [{ state: 'halted', phase: 'stopped' }, ['40 succeeded', '53 need you', left, '1 unclear']],
  [{ state: 'cancelled', phase: 'ended' }, ['40 succeeded', '53 need you', left, '1 unclear']],
  [{ state: 'running', phase: 'in progress' }, ['40 succeeded', '53 need you', '1 unclear']],
])('the figures of a page say what its verdict says: %j', async (run, figures) => {
  expect(await figuresOf({ run, told })).toEqual([...figures, '1 s duration']);
  expect(verdictOf(await pageDataOf({ run, told })).text).toContain('53 rows need you.');
});

test('more than six cards are folded', async () => {
  const codes = [
    'INTERNAL',
    'UNKNOWN',
    'NOT_FOUND',
    'ABORTED',
    'DATA_LOSS',
    'CONFLICT',
    'TOO_EARLY',
    'TLS_ERROR',
  ];
  const html = await summaryOf({ told: codes.map((code) => `1 failed ${code}`).join(', ') });
  expect(html.split('<details id="more-cards">')[0]?.match(/<h3>/g)).toHaveLength(6);
  expect(html).toContain('<summary>2 more codes</summary>');
});

test('figures link to their rows where there are any', async () => {
  const html = await summaryOf({ told: rows });
  expect([...html.matchAll(/id="show (\w+)"/g)].map(([, group]) => group)).toEqual([
    'succeeded',
    'attention',
    'unclear',
  ]);
  expect(await summaryOf({ told: '5 succeeded OK' })).not.toContain('id="show attention"');
});

test('a long message is cut', async () => {
  const data = await pageDataOf({ told: '1 failed INTERNAL' });
  const [code] = data.summary.codes;
  const codes = code === undefined ? [] : [{ ...code, message: 'x'.repeat(1_000) }];
  const html = htmlOf(reportSummary({ ...data, summary: { ...data.summary, codes } }));
  expect(html).toContain(`row 1: ${'x'.repeat(300)}…<`);
});

test('the head has the facts of the run, and rows that count for no call', async () => {
  const why = { reason: 'too many failures', by: 'u on m', purpose: '<ticket>' };
  const run = { state: 'halted', phase: 'stopped', ...why } as const;
  const html = htmlOf(reportHead(await pageDataOf({ run, told: '1 succeeded OK, 2 duplicate DUPLICATE' })));
  const facts = ['too many failures', 'u on m', '&#60;ticket&#62;', 'https://api.example'];
  for (const text of [...facts, '2 rows are duplicates']) expect(html).toContain(text);
});
