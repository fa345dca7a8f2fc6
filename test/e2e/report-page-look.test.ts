import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { RowResult } from '../../src/domain/row-result.ts';
import type { ReportLine } from '../../src/engine/report/join-results.ts';
import { planPageParts } from '../../src/engine/report/plan-page/plan-page-file.ts';
import { resultOf } from '../engine/journal/arbitraries.ts';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { chartedRun } from '../helpers/charted-run.ts';
import { writePageOf } from '../helpers/page-lines.ts';
import { callableRow } from '../helpers/planned-row.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { act, edit, plannedPage } from '../pages/browser/plan/planned-page.ts';
import { finds, found, isReady } from './report-rows.ts';

const update = { name: 'update', thing: 'board', done: 'updated', subject: 'id', columns: ['id'] };
const columns = ['id', 'title', 'old_title', 'agent'];
const longMessage = `${'The node was drained for maintenance. '.repeat(4)}Then the connection was reset.`;

/** 200 updates in ten seconds, of which every third failed, and every sixth is unclear. */
function lines(): readonly ReportLine[] {
  return chartedRun({ accepted: Array.from({ length: 10 }, () => 20) }).lines.map(({ result }, index) => {
    const row = index + 1;
    const failure: Partial<RowResult> = {
      outcome: 'failed',
      code: row % 2 === 0 ? 'UNAVAILABLE' : 'FAILED_PRECONDITION',
      message: row % 2 === 0 ? longMessage : `board ${row} is locked`,
      unclear: row % 2 === 0,
    };
    return {
      row: callableRow(row, [String(4_000 + row), `Hello ${row}`, row === 3 ? '' : `Hi ${row}`, 'ana']),
      result: resultOf(row, {
        ...result,
        operation: 'update',
        columns: { id: String(4_000 + row) },
        ...(row % 3 === 0 && failure),
      }),
    };
  });
}

async function address(): Promise<string> {
  const { facts } = chartedRun({ accepted: Array.from({ length: 10 }, () => 20) });
  const page = { folder: await temporaryFolder(), columns, operations: [update], facts };
  return String(pathToFileURL(await writePageOf([lines()], page)));
}

/** A script: the paragraphs, values and notes with more than 80 characters in a line. */
const tooWide = `[...document.querySelectorAll('p:not(.filters, .do), dd, .note')].filter((place) => {
  const [range, byLine] = [document.createRange(), new Map()];
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    for (let at = 0; at < walker.currentNode.length; at += 1) {
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + 1);
      const { top, width } = range.getBoundingClientRect();
      if (width > 1) byLine.set(Math.round(top), (byLine.get(Math.round(top)) ?? 0) + 1);
    }
  return Math.max(0, ...byLine.values()) > 80;
}).map((place) => place.textContent)`;

/** A script: what can be clicked and is lower than 24 pixels. */
const tooLow = `[...document.querySelectorAll('a, button, summary, select, label, input:not([type=checkbox])')]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 24)
  .map((each) => each.textContent)`;

const overflow = 'document.documentElement.scrollWidth - innerWidth';

describeWithBrowser('report.html', (open) => {
  test('can be read and used by everyone, on a desk and on a phone, by day and by night', async () => {
    const url = await address();
    for (const width of [1_440, 380])
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, complaints } = await open(url, { viewport: { width, height: 800 }, colorScheme });
        await page.waitForSelector('canvas');
        await page.getByRole('searchbox').fill('reset');
        await finds(page, /^33 of/);
        await expectAccessible(page);
        expect(await page.evaluate(tooWide)).toEqual([]);
        expect(await page.evaluate(tooLow)).toEqual([]);
        await page.locator('.rows').press('Enter');
        await expectAccessible(page);
        expect(await page.evaluate(tooLow)).toEqual([]);
        expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
        expect(complaints).toEqual([]);
      }
  });

  test('shows all charts side by side, or all below each other', async () => {
    const { page } = await open(await address(), { viewport: { width: 1_100, height: 800 } });
    await page.waitForSelector('canvas');
    const tops = () =>
      page.evaluate<number[]>(
        '[...document.querySelectorAll("figure")].map((each) => each.getBoundingClientRect().top)',
      );
    expect(await tops()).toHaveLength(3);
    expect(new Set(await tops()).size).toBe(1);
    await page.setViewportSize({ width: 900, height: 800 });
    expect(new Set(await tops()).size).toBe(3);
  });

  test('prints no heading alone at the foot of a page', async () => {
    const { page } = await open(await address());
    await page.waitForSelector('canvas');
    await page.emulateMedia({ media: 'print' });
    const look = (selector: string, style: string) =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('${selector}')].map((each) => getComputedStyle(each).${style})`,
      );
    expect(new Set(await look('h2', 'breakAfter'))).toEqual(new Set(['avoid']));
    // Chromium heeds it in blocks only.
    expect(await look('.charts', 'display')).toEqual(['block']);
  });

  test('has cards of two lines on a phone where no row has a message', async () => {
    const good = lines().map(({ row, result }) => ({
      row,
      result: resultOf(row.row, { ...result, outcome: 'succeeded', code: 'OK', message: '', unclear: false }),
    }));
    const folder = await temporaryFolder();
    const file = await writePageOf([good], { folder, columns, operations: [update] });
    const viewport = { width: 380, height: 800 };
    const { page } = await open(String(pathToFileURL(file)), { viewport });
    await page.waitForSelector(isReady);
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.rows tbody tr')].map((row) => row.getBoundingClientRect().height)`,
    );
    expect(heights.length).toBeGreaterThan(5);
    expect(new Set(heights)).toEqual(new Set([58]));
  });

  test('draws all parts of the bar at the same height', async () => {
    const halted = lines().map(({ row, result }, index) => {
      const uncalled = { outcome: 'not_attempted', code: 'HALTED', attempts: 0 } as const;
      return { row, result: { ...result, ...(index > 150 && uncalled) } };
    });
    const page = { folder: await temporaryFolder(), columns, operations: [update] };
    const { page: opened } = await open(String(pathToFileURL(await writePageOf([halted], page))));
    await opened.waitForSelector(isReady);
    const parts = await opened.evaluate<readonly (readonly string[])[]>(
      '[...document.querySelectorAll(".bar span")].map((part) => [part.className, getComputedStyle(part).backgroundClip])',
    );
    expect(parts.map(([name]) => name)).toContain('not_attempted');
    expect(new Set(parts.map(([, clip]) => clip))).toEqual(new Set(['padding-box']));
  });

  test('leads to rows and back, and its filters keep their place', async () => {
    const { page } = await open(await address(), { viewport: { width: 1_440, height: 600 } });
    // The charts make room for themselves when the page is ready.
    await page.waitForSelector('canvas');
    const step = page.locator('.steps').getByRole('link').first();
    await step.scrollIntoViewIfNeeded();
    const before = await page.evaluate('scrollY');
    await step.click();
    const back = page.getByRole('button', { name: 'Back to “What to do next”' });
    const search = page.getByRole('searchbox');
    const place = (await search.boundingBox())?.y;
    await search.fill('"board 9 is"');
    await finds(page, /^0 of/);
    expect((await search.boundingBox())?.y).toBe(place);
    await back.click();
    expect(await page.evaluate('scrollY')).toBe(before);
    expect(await page.evaluate('document.activeElement.id')).toBe(await step.getAttribute('id'));
    expect(await back.isVisible()).toBe(false);
    // The keyboard skips to the rows, and the address stays.
    await page.goto(`${page.url().replace(/#.*/, '')}#show=failed`);
    await page.reload();
    await page.waitForSelector(isReady);
    const clipped = () => page.evaluate('getComputedStyle(document.querySelector(".skip")).clipPath');
    expect(await clipped()).toBe('inset(50%)');
    await page.keyboard.press('Tab');
    expect(await clipped()).toBe('none');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.className')).toBe('rows');
    expect(page.url()).toContain('#show=failed');
  });

  test('marks what a search has found, also where a text is cut', async () => {
    const { page } = await open(await address());
    await page.waitForSelector(isReady);
    await page.getByRole('searchbox').fill('RESET 4006');
    await finds(page, /^1 of/);
    expect(await page.locator('.rows mark').allTextContents()).toEqual(['4006', 'reset']);
    const message = page.locator('.rows td.message');
    expect(await message.textContent()).toMatch(/^….{0,12}reset\.$/);
    const [mark, cell] = [await message.locator('mark').boundingBox(), await message.boundingBox()];
    expect((mark?.x ?? 0) + (mark?.width ?? 0)).toBeLessThan((cell?.x ?? 0) + (cell?.width ?? 0));
    await page.getByRole('searchbox').fill('');
    await finds(page, /^66 of/);
    expect(await page.locator('mark').count()).toBe(0);
  });

  test('gives the message the room that is left, and says that there are columns beyond', async () => {
    const { page } = await open(await address(), { viewport: { width: 1_240, height: 800 } });
    await page.waitForSelector(isReady);
    const edge = await page.locator('.scroller').boundingBox();
    const message = await page.locator('.rows th.message').boundingBox();
    const right = (box: typeof edge) => (box?.x ?? 0) + (box?.width ?? 0);
    expect(Math.abs(right(message) - right(edge))).toBeLessThan(3);
    expect(message?.width).toBeGreaterThan(450);
    expect(await page.locator('.frame.more').count()).toBe(1);
    await page.locator('.scroller').evaluate((scroller) => scroller.scrollTo({ left: 10_000 }));
    await page.locator('.frame.more').waitFor({ state: 'detached' });
    expect(await page.locator('.rows th').allTextContents()).not.toContain('');
  });

  test('has a card for each row on a phone, with its outcome, code and message', async () => {
    const { page } = await open(await address(), { viewport: { width: 380, height: 800 } });
    await page.waitForSelector(isReady);
    const card = page.locator('.rows tbody tr').nth(1);
    expect(await card.locator('.card').textContent()).toMatch(
      /^4006failedunclear UNAVAILABLE The node was drained/,
    );
    for (const part of ['.outcome.failed', '.outcome.unclear', 'b'])
      expect(await card.locator(part).isVisible()).toBe(true);
    const codes = page.locator('.codes');
    expect(await codes.evaluate((table) => table.scrollWidth - table.clientWidth)).toBeLessThanOrEqual(0);
    // Where there is room, there are columns.
    await page.setViewportSize({ width: 1_000, height: 800 });
    await page.locator('.rows th', { hasText: 'Message' }).waitFor();
  });

  test('tells times as distances from now, and the exact ones in titles and on paper', async () => {
    const { page } = await open(await address(), { timezoneId: 'UTC' });
    await page.waitForSelector(isReady);
    const started = page.locator('.facts time').first();
    expect(await started.getAttribute('title')).toBe('2026-01-01 10:00:00 UTC');
    expect(await started.textContent()).toMatch(/^1 Jan/);
    expect(await page.locator('.facts time').last().textContent()).toMatch(/ago$/);
    await page.emulateMedia({ media: 'print' });
    const onPaper = 'getComputedStyle(document.querySelector(".facts time"), "::after").content';
    expect(await page.evaluate(onPaper)).toContain('2026-01-01 10:00:00 UTC');
  });

  test('tells in a dialog what a row changes, and nothing twice', async () => {
    const { page } = await open(`${await address()}#row=6`);
    const story = page.locator('dialog');
    await story.waitFor();
    const change = story.locator('.changes');
    expect(await change.locator('del').textContent()).toBe('Hi 6');
    expect(await change.locator('ins').textContent()).toBe('Hello 6');
    // Screen readers read which is which.
    expect(await change.locator('dd').textContent()).toBe('old: Hi 6 → , new: Hello 6');
    expect(await story.locator('dt', { hasText: /^(title|old_title|operation)$/ }).allTextContents()).toEqual(
      ['title'],
    );
    expect(await story.getByText('4006', { exact: true }).count()).toBe(1);
    // The old title of this row was empty.
    await page.goto(`${page.url().replace(/#.*/, '')}#row=3`);
    await page.reload();
    await story.waitFor();
    expect(await change.locator('dd').textContent()).toContain('(empty)');
  });

  test('fits on paper from a phone, with its charts', async () => {
    const { page, complaints } = await open(await address(), { viewport: { width: 380, height: 800 } });
    await page.waitForSelector('canvas');
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 718, height: 1_000 });
    expect(await page.locator('.rows th').allTextContents()).toContain('Message');
    expect(await page.locator('.rows tbody tr').count()).toBe(66);
    expect(await page.locator('canvas').first().isVisible()).toBe(true);
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
    expect(await found(page)).toBe('66 of 200 rows');
    const rules = '[...document.styleSheets[0].cssRules].map((rule) => rule.cssText).join(" ")';
    expect(await page.evaluate(rules)).toContain('Run r of m.csv');
    expect(complaints).toEqual([]);
  });
});

describeWithBrowser('the page of a plan', (open) => {
  test('can be read and used by everyone, on a desk and on a phone, by day and by night', async () => {
    const values = (id: number) => ({ id: String(id), title: `A title of some length for board ${id}` });
    const rows = Array.from({ length: 50 }, (_, row) =>
      row % 3 === 0 ? act(row + 1, String(900 + row)) : edit(row + 1, values(row), { old: { title: 'Old' } }),
    );
    const content = await plannedPage(rows, ({ row }) => [String(row)], {
      refusals: ['A reason that is long enough to need more than one line. '.repeat(4)],
      warnings: ['A warning that is long enough to need more than one line. '.repeat(4)],
    });
    const path = join(await temporaryFolder(), 'plan.html');
    await writeFile(path, await planPageParts(content));
    for (const width of [1_440, 380])
      for (const colorScheme of ['light', 'dark'] as const) {
        const viewport = { width, height: 800 };
        const { page, complaints } = await open(String(pathToFileURL(path)), { viewport, colorScheme });
        await page.waitForSelector(isReady);
        await page.getByRole('searchbox').fill('"board 7"');
        await finds(page, /^1 of/);
        expect(await page.locator('.rows ins mark').textContent()).toBe('board 7');
        expect(await page.evaluate(tooWide)).toEqual([]);
        expect(await page.evaluate(tooLow)).toEqual([]);
        await page.locator('.rows').press('Enter');
        const change = page.locator('dialog .changes dd');
        expect(await change.textContent()).toBe('old: Old → , new: A title of some length for board 7');
        await expectAccessible(page);
        expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
        expect(complaints).toEqual([]);
      }
  });
});
