import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import AxeLibrary from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { describeWithProgram } from './describe-with-program.ts';

/** It looks for nothing on other machines, and needs neither a screen nor privileges. */
const quietly = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];

/** A page, with the errors in it and its requests. */
export interface OpenPage {
  readonly page: Page;
  /** Errors thrown by its scripts, and complaints on its console. */
  readonly complaints: readonly string[];
  /** Every address that it has requested, except those of data within it. */
  readonly requests: readonly string[];
}

function chromiumPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path)) ?? '';
}

/** A `describe` for tests in a real browser: Debian's Chromium. */
export function describeWithBrowser(
  title: string,
  body: (open: (url: string, options?: BrowserContextOptions) => Promise<OpenPage>) => void,
): void {
  describeWithProgram(['chromium'], title, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: chromiumPath(), args: quietly });
    });
    afterAll(() => browser.close());
    body(async (url, options = {}) => {
      const context = await browser.newContext({ acceptDownloads: true, ...options });
      onTestFinished(() => context.close());
      // As in all tests, only what hangs is given up: shortly before the test itself, so that the error says what hung.
      context.setDefaultTimeout(280_000);
      // The only way into a page whose policy allows no other script.
      await context.addInitScript({ content: AxeLibrary.source });
      const page = await context.newPage();
      const complaints: string[] = [];
      const requests: string[] = [];
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        if (!/^(data|blob):/.test(request.url())) requests.push(request.url());
      });
      await page.goto(url);
      return { page, complaints, requests };
    });
  });
}

/** Stops the clock of a page: its timers wait until the test runs them. */
export async function stopClock({ clock }: Page): Promise<void> {
  await clock.install();
  // A slow page hears of the time too late and refuses it; then its clock stands still already, before the next time.
  const pause = () => clock.pauseAt(Date.now() + 1_000);
  await pause().catch(pause);
}

/** What makes a page hard to use for some people, as axe-core finds it. */
export async function expectAccessible(page: Page): Promise<void> {
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof AxeLibrary };
    const { violations: found } = await axe.run();
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  expect(violations).toEqual([]);
}
