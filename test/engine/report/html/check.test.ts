import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunCheck } from '../../../../src/engine/report/check-file.ts';
import { checkOf } from '../../../../src/engine/report/html/check.ts';
import { showCheck } from '../../../../src/engine/report/html/html-report.ts';
import { htmlOf } from '../../../../src/engine/report/html/markup.ts';
import type { PageData } from '../../../../src/engine/report/html/page-data.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const check: RunCheck = {
  check_version: 1,
  checked_at: '2026-11-16T10:00:00.000Z',
  runs: ['one'],
  counts: { as_wanted: 57, not_as_wanted: 2, gone: 1, overtaken: 0 },
  succeeded_not_as_wanted: 1,
  unclear: { rows: 2, done: 1, not_done: 1, unfinished: 0 },
  first: [
    { row: 7, entry: 'soundboard 41', check: 'not_as_wanted', there: 'title is "<script>"' },
    { row: 8, entry: 'soundboard 42', check: 'gone', there: 'does not exist' },
  ],
};

const shown = (data: Partial<PageData>): string => htmlOf(checkOf(data as PageData));

test('the page says what a check found, and how many rows more', () => {
  const html = shown({ check });
  expect(html).toContain(
    '<p><span class="state attention">57 as wanted, 2 not as wanted, 1 gone</span>. The entries may have changed since.</p>',
  );
  expect(html).toContain('Of 2 unclear rows that failed, 1 was done and 1 was not.');
  expect(html).toContain('Row 7, soundboard 41: title is &#34;&#60;script&#62;&#34;');
  expect(html).toContain('Row 8, soundboard 42: gone');
  expect(html).toContain('check.csv has 1 more.');
});

test('without a check, the page says nothing of one', () => {
  expect(shown({})).toBe('');
});

test.each([
  { what: 'no page', text: undefined },
  { what: 'a file that is no page', text: '<p>mine</p>' },
])('with $what, nothing is written', async ({ text }) => {
  const folder = await temporaryFolder();
  const path = join(folder, 'report.html');
  if (text !== undefined) await writeFile(path, text);
  await showCheck(folder, check, async () => []);
  expect(await readdir(folder)).toEqual(text === undefined ? [] : ['report.html']);
  if (text !== undefined) expect(await readFile(path, 'utf8')).toBe(text);
});
