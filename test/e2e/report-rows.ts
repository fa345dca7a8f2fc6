import type { Page } from 'playwright-core';

/** The page has drawn its rows. */
export const isReady = 'main[aria-busy=false]';

/** How many rows are found, as the page says it. */
export async function found(page: Page): Promise<string | null> {
  return page.locator('.found').textContent();
}

/** Waits until that number of rows is found. */
export function finds(page: Page, text: RegExp): Promise<void> {
  return page.locator('.found', { hasText: text }).waitFor();
}

/** The cells under a title, of the rows that are shown. */
export async function cellsUnder(page: Page, title: string): Promise<readonly string[]> {
  const titles = await page.locator('.rows th').allTextContents();
  return page.locator(`.rows tbody td:nth-child(${titles.indexOf(title) + 1})`).allTextContents();
}
