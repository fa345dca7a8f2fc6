import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { RowResult } from '../../src/domain/row-result.ts';
import { outcomes } from '../../src/domain/terms.ts';
import type { ReportLine } from '../../src/engine/report/join-results.ts';
import { resultOf } from '../engine/journal/arbitraries.ts';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { type PageOptions, writePageOf } from '../helpers/page-lines.ts';
import { callableRow, restoreEvaluation } from '../helpers/planned-row.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { cellsUnder, finds, found, isReady } from './report-rows.ts';

const longHeader = 'A header that is a whole sentence, with a reason and a date. '.repeat(10);
const longId = `projects/acme/conversations/${'0123456789abcdef'.repeat(20)}/evaluations`;

function line(row: number, result: Partial<RowResult>, more: readonly string[] = []): ReportLine {
  const cells = [`${longId}/${row}`, ...more];
  return {
    row: callableRow(row, cells),
    result: resultOf(row, { operation: 'restore-evaluation', ...result }),
  };
}

const notDeleted = { outcome: 'failed', code: 'FAILED_PRECONDITION' } as const;

/** Two attempts with the same answer, the second after 1.5 s. */
const twice = {
  message: 'no such thing',
  unclear: true,
  attempts: 2,
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:01.600Z',
  durationMs: 100,
  earlier: [
    { at: '2026-01-01T00:00:00.000Z', durationMs: 90, code: 'UNAVAILABLE', message: 'no such thing' },
  ],
} as const;

/** 30 rows that were refused for two reasons, 10 that may have succeeded, one unclear success, and others. */
const lines: readonly ReportLine[] = Array.from({ length: 100 }, (_, index) => {
  const row = index + 1;
  if (row <= 20) return line(row, { ...notDeleted, message: `evaluation ${row} is not deleted` });
  if (row <= 30)
    return line(row, { ...notDeleted, message: `evaluation ${row} is not recoverable ${'x'.repeat(400)}` });
  if (row <= 40) return line(row, { outcome: 'failed', code: 'UNAVAILABLE', unclear: true, attempts: 3 });
  return line(row, row === 50 ? { code: 'ALREADY_APPLIED', unclear: true } : {});
});

async function addressOf(options: Partial<PageOptions> & { readonly lines?: readonly ReportLine[] } = {}) {
  const { lines: wanted = lines, ...others } = options;
  const page = {
    folder: await temporaryFolder(),
    columns: ['evaluation_id'],
    operations: [restoreEvaluation],
  };
  return String(pathToFileURL(await writePageOf([wanted], { ...page, ...others })));
}

/** The left edges of the cells of the first row on the screen. */
function leftEdges(page: Page): Promise<readonly number[]> {
  return page.evaluate<number[]>(
    '[...document.querySelectorAll(".rows tbody tr:first-child td")].map((cell) => cell.getBoundingClientRect().left)',
  );
}

/** A computed style of the first element that matches. */
function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue(${JSON.stringify(property)})`,
  );
}

describeWithBrowser('the rows of report.html', (open) => {
  test('have columns that stay in place, with the subject, the code and the message in sight', async () => {
    const columns = ['evaluation_id', longHeader, ...Array.from({ length: 75 }, (_, index) => `c${index}`)];
    const wide = lines.map(({ result }) =>
      line(
        result.row,
        result,
        columns.slice(1).map(() => 'text'),
      ),
    );
    const url = await addressOf({ columns, lines: wide });
    const { page, complaints } = await open(url, { viewport: { width: 1_024, height: 800 } });
    await page.waitForSelector(isReady);
    const edges = await leftEdges(page);
    expect((await cellsUnder(page, 'Message'))[0]).toBe('evaluation 1 is not deleted');
    const titles = await page.locator('.rows th').allTextContents();
    expect(titles.slice(0, 5)).toEqual(['Row', 'evaluation_id', 'Outcome', 'Code', 'Message']);
    expect(edges[titles.indexOf('Message')]).toBeLessThan(730);
    await page.locator('.rows').press('End');
    expect(await leftEdges(page)).toEqual(edges);
    await page.locator('.scroller').evaluate((scroller) => scroller.scrollTo({ left: 2_000 }));
    expect((await leftEdges(page)).slice(0, 2)).toEqual(edges.slice(0, 2));
    // What is cut is there for a pointer, and below the table for the keyboard.
    const message = page.locator('.rows tr.active .message');
    expect(await message.getAttribute('title')).toBeNull();
    await page.getByLabel('Show', { exact: true }).selectOption('decide');
    await page.locator('.rows').press('End');
    expect(await message.getAttribute('title')).toContain('x'.repeat(400));
    expect(await page.locator('.whole').textContent()).toContain('x'.repeat(400));
    // Columns can be left out.
    await page.getByText('Columns', { exact: true }).click();
    await page.getByLabel('evaluation_id').uncheck();
    expect((await page.locator('.rows th').allTextContents()).slice(0, 2)).toEqual(['Row', 'Outcome']);
    await expectAccessible(page);
    // On a phone, there are no columns to choose.
    await page.setViewportSize({ width: 380, height: 800 });
    expect(await page.locator('.choices').isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('are all that a link counts, whatever the reader looked for before', async () => {
    const { page, complaints } = await open(await addressOf());
    await page.waitForSelector(isReady);
    const ledger = '60 succeeded (1 unclear)40 failed (10 unclear)= 100 rows';
    expect(await page.locator('.ledger').textContent()).toBe(ledger);
    const steps = ['Check 11 unclear rows in the service', 'Retry 10 rows', 'Decide about 30 rows'];
    expect(await page.locator('.steps h3').allTextContents()).toEqual(steps);
    expect(await page.locator('.steps .outcome').allTextContents()).toEqual(['all 10 unclear']);
    expect(await page.locator('.steps code').allTextContents()).toEqual([
      'cqbatch check r',
      'cqbatch retry r --transient',
    ]);
    await page.getByRole('searchbox').fill('"evaluation 7 is" failed');
    await finds(page, /^1 of/);
    await page.getByRole('link', { name: 'Show the 30 rows' }).click();
    expect(await found(page)).toBe('30 of 100 rows');
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.getByRole('link', { name: 'evaluation … is not deleted' }).click();
    expect(await found(page)).toBe('20 of 100 rows');
    expect(await page.locator('.filters').textContent()).toContain('“evaluation … is not deleted”');
    await page.locator('.ledger').getByRole('link', { name: '10 unclear' }).click();
    expect(await found(page)).toBe('10 of 100 rows');
    expect(new Set(await cellsUnder(page, 'Code'))).toEqual(new Set(['UNAVAILABLE']));
    // The bar counts clear and unclear rows apart; the ledger has both.
    expect(
      await page.locator('.bar span').evaluateAll((parts) => parts.map((part) => part.className)),
    ).toEqual(['succeeded', 'succeeded unclear', 'failed', 'failed unclear']);
    await page.locator('.bar span').first().click();
    expect(await found(page)).toBe('60 of 100 rows');
    await page.locator('.bar span').last().click();
    expect(await found(page)).toBe('10 of 100 rows');
    // A table without rows has none to move to, to open or to save.
    await page.getByRole('searchbox').fill('nowhere');
    await finds(page, /^0 of/);
    for (const key of ['ArrowDown', 'End', 'Enter']) await page.locator('.rows').press(key);
    expect(await page.locator('.rows tbody tr').count()).toBe(0);
    expect(await page.locator('dialog').isVisible()).toBe(false);
    for (const name of ['Save as shown', 'Save as manifest'])
      expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    expect(await found(page)).toBe('All 100 rows');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as shown' }).click(),
    ]);
    const saved = parse(await readFile(await download.path()), { columns: true, bom: true });
    expect(saved).toHaveLength(100);
    expect(saved[49]).toMatchObject({ Row: '50', Outcome: 'succeeded', Unclear: 'unclear' });
    expect(complaints).toEqual([]);
  });

  test('are told one by one, with the keyboard alone, and their values have room beside long headers', async () => {
    const told = [1, 2, 3].map((row) => line(row, { ...notDeleted, ...twice }, ['value']));
    const url = await addressOf({ lines: told, columns: ['evaluation_id', longHeader] });
    const { page, complaints } = await open(url);
    await page.waitForSelector(isReady);
    const table = page.locator('.rows');
    const active = async () => page.locator(`#${await table.getAttribute('aria-activedescendant')}`);
    expect(await (await active()).locator('.row').textContent()).toBe('1');
    await table.press('Enter');
    const title = page.locator('#story-title');
    expect(await title.textContent()).toMatch(/^Row 1 · evaluation projects\/acme.*… · failed · unclear$/);
    const story = page.locator('dialog');
    expect(await story.locator('td:first-child').allTextContents()).toEqual(['+0.0 s', '+1.5 s']);
    expect(await story.locator('.timeline > span').allTextContents()).toEqual(['+0.0 s', '+1.6 s']);
    expect(await story.getByText('no such thing').count()).toBe(1);
    for (const what of ['Message', 'request', 'evaluation_id'])
      expect(await story.getByRole('button', { name: `Copy ${what}` }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    await page.keyboard.press('ArrowRight');
    expect(await title.textContent()).toContain('Row 3 ·');
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    // The focus stays.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Next');
    await page.keyboard.press('ArrowRight');
    expect(await title.textContent()).toContain('Row 3 ·');
    const value = await page.locator('dialog dd', { hasText: /^value$/ }).boundingBox();
    expect(value?.width).toBeGreaterThan(300);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.className')).toBe('rows');
    expect(await (await active()).getAttribute('aria-selected')).toBe('true');
    expect(await (await active()).locator('.row').textContent()).toBe('3');
    expect(complaints).toEqual([]);
  });

  test('are in the address, so that a link shows the same, and back and forward work', async () => {
    const url = await addressOf();
    const { page, complaints } = await open(url);
    await page.waitForSelector(isReady);
    const title = page.locator('#story-title');
    await page.getByRole('link', { name: 'UNAVAILABLE', exact: true }).click();
    // A reader can select a part of a cell, without opening its row.
    const cell = page.locator('.rows tbody tr').nth(2).locator('.code');
    await cell.scrollIntoViewIfNeeded();
    const { x = 0, y = 0 } = (await cell.boundingBox()) ?? {};
    await page.mouse.move(x + 12, y + 15);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 16);
    await page.mouse.up();
    expect(await page.evaluate('String(getSelection())')).toMatch(/^UNA/);
    expect(await page.locator('dialog').isVisible()).toBe(false);
    await page.locator('.rows tbody tr').nth(2).click();
    expect(await title.textContent()).toContain('Row 33 ·');
    const address = page.url();
    expect(address).toContain('code=UNAVAILABLE');
    expect(address).toContain('row=33');
    await page.goBack();
    expect(await page.locator('dialog').isVisible()).toBe(false);
    expect(await found(page)).toBe('10 of 100 rows');
    await page.goBack();
    expect(await found(page)).toBe('40 of 100 rows');
    await page.goForward();
    await page.goForward();
    expect(await title.textContent()).toContain('Row 33 ·');

    const again = await open(address);
    await again.page.waitForSelector(isReady);
    expect(await again.page.locator('#story-title').textContent()).toContain('Row 33 ·');
    expect(await found(again.page)).toBe('10 of 100 rows');
    // The row of a link need not be in the table. The next one is the first of the table.
    const other = await open(address.replace('row=33', 'row=90'));
    await other.page.waitForSelector(isReady);
    const story = other.page.locator('#story-title');
    expect(await story.textContent()).toContain('Row 90 ·');
    await other.page.keyboard.press('ArrowRight');
    expect(await story.textContent()).toContain('Row 31 ·');
    // A link with mistakes shows what it asks for: nothing.
    const wrong = await open(`${url}#show=constructor&sort=-&row=x`);
    await wrong.page.waitForSelector(isReady);
    expect(await wrong.page.locator('option:checked').first().textContent()).toBe('0 constructor');
    expect([...complaints, ...again.complaints, ...wrong.complaints]).toEqual([]);
  });

  test('fit on paper, with what needs the reader or is unclear', async () => {
    // Two operations have two subjects, and the messages still have room.
    const operations = [restoreEvaluation, { ...restoreEvaluation, name: 'o', subject: 'soundboard_id' }];
    const url = await addressOf({ columns: ['evaluation_id', 'soundboard_id'], operations });
    const { page, complaints } = await open(url, { viewport: { width: 718, height: 1_000 } });
    await page.waitForSelector(isReady);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    const rows = Array.from({ length: 40 }, (_, index) => String(index + 1));
    expect(await cellsUnder(page, 'Row')).toEqual([...rows, '50']);
    expect((await cellsUnder(page, 'evaluation_id'))[2]).toMatch(/^projects\/acme.*….*evaluations\/3$/);
    const heights = await page.evaluate<number[]>(
      '[...document.querySelectorAll(".rows tbody tr")].map((row) => row.getBoundingClientRect().height)',
    );
    expect(Math.max(...heights)).toBeLessThan(100);
    for (const text of ['UNAVAILABLE', 'evaluation … is not deleted'])
      expect(await page.locator('.codes').getByText(text).first().isVisible()).toBe(true);
    expect(await page.locator('button:visible:not(th *)').count()).toBe(0);
    // A row that succeeded is on paper because it is unclear, and says so.
    expect(await page.locator('.rows tbody tr:last-child td.unclear').isVisible()).toBe(true);
    await page.evaluate('dispatchEvent(new Event("afterprint"))');
    expect(await found(page)).toBe('40 of 100 rows');
    expect(complaints).toEqual([]);
  });

  test('can be told by everyone: without colors, and where only the system has colors', async () => {
    const { page } = await open(await addressOf(), { forcedColors: 'active' });
    await page.waitForSelector(isReady);
    await page.locator('.ledger').getByRole('link', { name: '60 succeeded' }).click();
    expect(await styleOf(page, '.bar .failed', 'forced-color-adjust')).toBe('none');
    expect(await styleOf(page, '.ledger [aria-current=true]', 'outline-style')).toBe('solid');
    await page.locator('.rows').focus();
    const background = (selector: string) => styleOf(page, selector, 'background-color');
    expect(await background('.rows .active td')).not.toBe(await background('.rows tr:not(.active) td'));
  });
});

const sheets = ['report.css', 'plan.css', 'dashboard.css'];

function sheetOf(name: string): Promise<string> {
  return readFile(new URL(`../../dist/page/${name}`, import.meta.url), 'utf8');
}

test.each(sheets)('%s needs no function that browsers of 2023 lack', async (name) => {
  expect(/.*: light-dark\(.*/.exec(await sheetOf(name))).toBeNull();
});

test.each(sheets)('%s has one color for each outcome, as the other pages have', async (name) => {
  const sheet = (await sheetOf(name)).replaceAll(/\/\*.*?\*\//gs, '');
  const rules = Array.from(sheet.matchAll(/([^{}]+)\{([^{}]*)\}/g), ([, selectors = '', body = '']) => ({
    selectors: selectors.split(',').map((each) => each.trim()),
    body,
  }));
  const colored = rules.filter(({ body }) => body.includes('--color:'));
  for (const outcome of outcomes)
    expect(colored.filter(({ selectors }) => selectors.includes(`.${outcome}`)).length, outcome).toBe(1);
});
