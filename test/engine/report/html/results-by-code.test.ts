import fc from 'fast-check';
import { expect, test } from 'vitest';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import { resultsByCode } from '../../../../src/engine/report/html/results-by-code.ts';
import { pageDataOf, type Reported } from './reported.ts';

/** The lines of the table: the texts of their cells, by class. */
async function linesOf(reported: Reported): Promise<readonly Readonly<Record<string, string>>[]> {
  const html = htmlOf(resultsByCode(await pageDataOf(reported)));
  const [, body = ''] = html.split('<tbody>');
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/g)].map(([, line = '']) =>
    Object.fromEntries(
      [...line.matchAll(/<td class="([^"]*)">(.*?)<\/td>/g)].map(([, name = '', cell = '']) => [
        name,
        cell
          .replaceAll('</p>', '\n')
          .replaceAll('</a>', '\n')
          .replace(/<[^>]*>/g, '')
          .trim(),
      ]),
    ),
  );
}

const meaning =
  'The API does not know this identifier; or, if the message says so, another server has answered.';

test('a code with one message has one line, in which code, message and count are apart', async () => {
  const lines = await linesOf({
    told: '20 failed NOT_FOUND',
    messageOf: (row) => `evaluation ${row} is gone`,
  });
  expect(lines).toEqual([
    {
      outcome: 'failed',
      code: 'NOT_FOUND',
      what: expect.stringContaining(
        `evaluation … is gone\ne.g. row 1: evaluation 1 is gone, and 19 like it\n${meaning}`,
      ) as string,
      'number count': '20',
    },
  ]);
});

test('a code with several messages has a line for each; they add up to its rows', async () => {
  const lines = await linesOf({
    told: '1000 failed ABORTED (1 unclear)',
    messageOf: (row) => (row <= 146 ? `transaction ${row}a was aborted` : 'x '.repeat(row % 140)),
  });
  const [code, first, ...others] = lines;
  expect(code).toMatchObject({ code: 'ABORTED', 'number count': '1,000', 'number unclear': '1' });
  expect(first).toMatchObject({ 'number count': '146', 'number unclear': '1' });
  const rows = others.map((line) => Number(line['number count']?.replace(',', '')));
  expect(rows.reduce((sum, each) => sum + each, 146)).toBe(1_000);
  expect(others.at(-1)?.['what']).toBe('Other messages');
});

test('the lines of a code add up to its rows, whatever its messages', async () => {
  const anyMessages = fc.array(
    fc.constantFrom('', 'a', 'b 1', 'b 2', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  await fc.assert(
    fc.asyncProperty(anyMessages, async (messages) => {
      const told = `${messages.length} failed ABORTED`;
      const [code, ...lines] = await linesOf({ told, messageOf: (row) => messages[row - 1] ?? '' });
      expect(code?.['number count']).toBe(String(messages.length));
      const sum = lines.reduce((rows, line) => rows + Number(line['number count']), 0);
      expect([0, messages.length]).toContain(sum);
      if (new Set(messages).size > 2) expect(sum).toBe(messages.length);
    }),
    { numRuns: 50 },
  );
});
