import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { ReportLine } from '../../src/engine/report/join-results.ts';
import { resultOf } from '../engine/journal/arbitraries.ts';
import { describeWithBrowser, expectAccessible, stopClock } from '../helpers/browser.ts';
import { writePageOf } from '../helpers/page-lines.ts';
import { callableRow } from '../helpers/planned-row.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';
import { mixedCsv } from './manifests.ts';
import { cellsUnder, finds, found, isReady } from './report-rows.ts';

describeWithBrowser('report.html', (open) => {
  test('shows the report, finds and exports rows, and requests nothing', async () => {
    const flags = ['--fault', '503=5%', '--seed', '3', '--latency', '1ms..30ms'];
    const text = `${mixedCsv(100).text}restore-evaluation,none,u,,,\n`;
    const { cwd, ...home } = await newHome(text, flags);
    // With one attempt, rows fail that are unclear: the report offers to retry them.
    const once = ['--attempts', '1', '--max-failures', 'none'];
    const run = ['run', 'rows.csv', '--yes', '--skip-invalid', '--reason', 'for the picture', ...once];
    expect((await home.run(...run)).code).toBe(1);
    const folder = await newestRunFolder(cwd);
    const { outcomes } = (await readSummary(folder)) as { outcomes: Readonly<Record<string, number>> };
    const report = await readCsv(folder, 'report.csv');
    const url = String(pathToFileURL(join(folder, 'report.html')));
    const { page, complaints, requests } = await open(url);
    await page.waitForSelector(isReady);

    const { succeeded = 0, failed: failures = 0, invalid = 0 } = outcomes;
    const need = failures + invalid;
    const doubtful = report.filter(({ _outcome, _unclear }) => _outcome === 'failed' && _unclear === 'yes');
    expect(await page.locator('h1').textContent()).toBe(
      `${succeeded} of ${report.length} rows succeeded, ${doubtful.length} more may have. ${failures} rows failed, ${invalid} is invalid.`,
    );
    expect(await page.locator('.facts').textContent()).toContain('for the picture');
    // It opens on the rows that need the reader.
    const troubled = report.filter(({ _outcome }) => _outcome === 'failed' || _outcome === 'invalid');
    expect(await found(page)).toBe(`${need} of ${report.length} rows`);
    expect(await cellsUnder(page, 'Row')).toEqual(troubled.map((row) => row['_row']).slice(0, 40));

    const show = (group: string) => page.getByLabel('Show', { exact: true }).selectOption(group);
    await show(`${failures} failed`);
    expect(await found(page)).toBe(`${failures} of ${report.length} rows`);
    const failed = report.filter((row) => row['_outcome'] === 'failed');
    expect(await cellsUnder(page, 'Row')).toEqual(failed.map((row) => row['_row']).slice(0, 40));

    // A code shows its rows. Commands are copied whole.
    const notFound = report.filter((row) => row['_code'] === 'NOT_FOUND');
    await page.getByRole('link', { name: 'NOT_FOUND', exact: true }).click();
    expect(await cellsUnder(page, 'Row')).toEqual(notFound.map((row) => row['_row']).slice(0, 40));
    const id = basename(folder);
    await page.evaluate(
      '{ let copied; Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { copied = text; }, copied: () => copied } }); }',
    );
    const retry = `cqbatch retry ${id} --transient`;
    // A button says for two seconds that it has copied: these end when the test says so.
    await stopClock(page);
    await page.getByRole('button', { name: `Copy ${retry}` }).click();
    await page.getByRole('button', { name: `Copied ${retry}` }).waitFor();
    expect(await page.evaluate('navigator.clipboard.copied()')).toBe(retry);
    // Pages of other machines come without encryption and have no clipboard.
    await page.evaluate(
      '{ Object.defineProperty(navigator, "clipboard", { value: undefined }); addEventListener("copy", (event) => { globalThis.copied = event.clipboardData.getData("text/plain"); }); }',
    );
    await page.getByRole('button', { name: 'Copy summary' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    expect(await page.evaluate('copied')).toMatch(/^\d+ of \d+ rows succeeded[.,]/);
    await page.clock.runFor(2_000);
    await page.getByRole('button', { name: 'Copy summary' }).waitFor();
    await page.clock.resume();
    // A step saves its rows under the name that its command has.
    const [toCorrect] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save them as CSV' }).click(),
    ]);
    expect(toCorrect.suggestedFilename()).toBe('correct.csv');
    await page.getByRole('button', { name: /^Copy cqbatch run \S+\/correct\.csv$/ }).waitFor();
    expect(await found(page)).toBe(`${invalid + notFound.length} of ${report.length} rows`);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await show(`${failures} failed`);

    // What is saved is fed back as it is.
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as manifest' }).click(),
    ]);
    await download.saveAs(join(cwd, 'again.csv'));
    const planned = await home.run('plan', 'again.csv', '--json');
    expect(planned.code).toBe(0);
    expect(JSON.parse(planned.stdout)).toMatchObject({ rows: failed.length, invalid: 0 });
    const again = await readFile(join(cwd, 'again.csv'), 'utf8');
    expect(again.split('\n')[0]).toContain('_code,_message,_unclear,');
    for (const row of failed) expect(again).toContain(row['evaluation_id'] || row['soundboard_id']);

    await show(`${report.length} rows`);
    const [wanted] = failed;
    const message = wanted?.['_message'] ?? '';
    await page.getByRole('searchbox').fill(message.toUpperCase());
    await finds(page, / of /);
    expect(new Set(await cellsUnder(page, 'Message'))).toEqual(new Set([message]));
    await page.locator('.rows').press('Enter');
    const story = page.locator('dialog');
    expect(await story.textContent()).toContain(`Row ${wanted?.['_row']}`);
    expect(await story.locator('pre').textContent()).toMatch(/^POST \/api\/v1alpha1\/.*\n\{"/);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expect(await story.isVisible()).toBe(false);
    await page.getByRole('searchbox').fill('');
    await finds(page, /^All/);

    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 380, height: 800 });
    await page.getByText('Entry and result').waitFor();
    await expectAccessible(page);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    // On paper are the rows that need the reader, whatever the reader looks at.
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    expect(await cellsUnder(page, 'Row')).toEqual(troubled.map((row) => row['_row']));
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [url] });
  });

  test('shows hostile text as text', async () => {
    const folder = await temporaryFolder();
    const hostile = [
      '<script>globalThis.hit = 1</script>',
      '</script><script>globalThis.hit = 2</script>',
      '<!--<script>',
      '"><img src=x onerror="globalThis.hit = 3">',
      'javascript:globalThis.hit=4',
      'a\u2028globalThis.hit=5\u2029b',
      '<style>*{display:none}</style>',
      '&lt;b&gt;',
      'invoice\u202egpj.exe',
      'x'.repeat(1_000_000),
    ];
    const column = '<img src=x onerror="globalThis.hit=6">';
    const lines = hostile.map((text, index): ReportLine => {
      const name = text.slice(0, 90);
      const earlier = [{ code: name, message: text.slice(0, 500) }];
      const told = { operation: name, code: name, message: text, columns: { told: text }, earlier };
      return {
        row: callableRow(index + 1, [String(index), text]),
        result: resultOf(index + 1, { outcome: 'failed', ...told }),
      };
    });
    const own = { name: 'o', thing: '<b>', subject: 'id', columns: ['told'] };
    const path = await writePageOf([lines], { folder, columns: ['id', column], operations: [own] });
    const url = String(pathToFileURL(path));
    const { page, complaints, requests } = await open(url);
    await page.waitForSelector(isReady);
    expect(await page.locator('.rows th').allTextContents()).toContain(column);
    const texts = hostile.map((text) => text.replace('\u202e', '\\u202e'));
    const shown = texts.map((text) => (text.length > 300 ? `${text.slice(0, 300)}…` : text));
    for (const title of ['Message', column, 'told']) expect(await cellsUnder(page, title)).toEqual(shown);
    for (const index of hostile.keys()) {
      await page
        .locator(`.rows tbody tr:nth-child(${index + 1}) td`)
        .first()
        .click();
      expect(await page.locator('dialog').textContent()).toContain((texts[index] ?? '').slice(0, 20_000));
      await page.keyboard.press('Escape');
    }
    expect(await page.evaluate(() => (globalThis as { hit?: unknown }).hit)).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [url] });
  });

  test('reports unreadable rows, and shows the rest', async () => {
    const folder = await temporaryFolder();
    const line = { row: callableRow(1, ['1']), result: resultOf(1, { outcome: 'failed' }) };
    const path = await writePageOf([[line]], { folder, columns: ['id'] });
    const html = await readFile(path, 'utf8');
    await writeFile(path, html.replace(/("portions":\[")[^"]*/, '$1AAAA'));
    const { page, complaints } = await open(String(pathToFileURL(path)));
    await page.waitForSelector(isReady);
    expect(await page.locator('h1').textContent()).toBe('0 of 1 row succeeded. 1 row failed.');
    expect(await page.locator('.note').textContent()).toContain('Open report.csv');
    expect(complaints).toEqual([]);
  });
});
