import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { ReportLine } from '../../src/engine/report/join-results.ts';
import { resultOf } from '../engine/journal/arbitraries.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { writePageOf } from '../helpers/page-lines.ts';
import { callableRow } from '../helpers/planned-row.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { cellsUnder, finds, found, isReady } from './report-rows.ts';

describeWithBrowser('report.html', (open) => {
  test('handles 200,000 rows, and says that further ones are left out', async () => {
    const folder = await temporaryFolder();
    const rows = 201_000;
    function* parts(): Generator<readonly ReportLine[]> {
      for (let first = 1; first <= rows; first += 1_000)
        yield Array.from({ length: 1_000 }, (_, index) => {
          const row = first + index;
          const isBad = row % 1_000 === 0;
          const bad = { outcome: 'failed', code: 'NOT_FOUND', message: `evaluation ${row} is gone` } as const;
          return {
            row: callableRow(row, [String(1_000_000 + 7 * row), 'u']),
            result: resultOf(row, { durationMs: row % 97, ...(isBad && bad) }),
          };
        });
    }
    const path = await writePageOf(parts(), { folder, columns: ['evaluation_id', 'user_id'] });
    const { page, complaints } = await open(String(pathToFileURL(path)));
    await page.waitForSelector(isReady);
    // The page is full with whole portions of a thousand rows, and the 201 rows that need the reader.
    expect(await page.locator('#rows .note').first().textContent()).toBe(
      'This page has only 199,201 of 201,000 rows, because more would make it too large to send. Rows that failed, are invalid or unclear were included first. report.csv has all rows.',
    );
    expect(await found(page)).toBe('201 of 201,000 rows');
    await page.getByLabel('Show', { exact: true }).selectOption('all');
    expect(await found(page)).toBe('199,201 of 201,000 rows');
    expect(await page.locator('.rows tbody tr').count()).toBeLessThan(60);
    await page.locator('.rows').press('End');
    expect((await cellsUnder(page, 'Row')).at(-1)).toBe('201000');
    await page.locator('.rows').press('ArrowUp');
    await page.locator('.rows').press('Enter');
    expect(await page.locator('#story-title').textContent()).toContain('Row 200000 ·');
    await page.getByRole('button', { name: 'Previous' }).click();
    expect(await page.locator('#story-title').textContent()).toContain('Row 199199 ·');
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('"evaluation 42000 is"');
    await finds(page, /^1 of/);
    expect(await cellsUnder(page, 'evaluation_id')).toEqual([String(1_000_000 + 7 * 42_000)]);
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Show', { exact: true }).selectOption('all');
    await finds(page, /^199,201 of/);
    await page.getByRole('button', { name: 'Duration' }).click();
    expect(new Set(await cellsUnder(page, 'Duration'))).toEqual(new Set(['0 ms']));
    // Cards of a phone are higher together than browsers allow.
    await page.setViewportSize({ width: 380, height: 800 });
    await page.getByText('Entry and result').waitFor();
    await page.locator('.rows').press('Home');
    expect((await cellsUnder(page, 'Row'))[0]).toBe('97');
    await page.locator('.rows').press('End');
    const last = page.locator('.rows tbody tr').last();
    expect(await last.getAttribute('aria-rowindex')).toBe(String(199_201 + 1));
    const [card, edge] = [await last.boundingBox(), await page.locator('.scroller').boundingBox()];
    expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThanOrEqual(
      (edge?.y ?? 0) + (edge?.height ?? 0) + 1,
    );
    await page.locator('.scroller').evaluate((scroller) => scroller.scrollTo({ top: 4_000_000 }));
    const first = page.locator('.rows tbody tr').first();
    await expect.poll(async () => Number(await first.getAttribute('aria-rowindex'))).toBeLessThan(150_000);
    expect(complaints).toEqual([]);
  });
});
