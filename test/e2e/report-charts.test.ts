import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { type ChartedRunOptions, chartedRun, secondsLater } from '../helpers/charted-run.ts';
import { writePageOf } from '../helpers/page-lines.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { isReady } from './report-rows.ts';

/** A minute with a wait, rejected calls and slow calls, and after a pause of a minute another one. */
const eventful: ChartedRunOptions = {
  accepted: Array.from({ length: 120 }, (_, second) => (second >= 20 && second < 32 ? 0 : 40)),
  points: {
    19: { rejected: 9 },
    50: { rejected: 4 },
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        20 + index,
        { allowed_per_s: 1, waited_s: 1, reason: 'the API asks to wait' },
      ]),
    ),
  },
  stops: [{ from: secondsLater(60), to: secondsLater(120), state: 'paused', reason: 'maintenance' }],
  calls: Array.from({ length: 180 }, (_, second) => second).filter(
    (second) => !(second >= 20 && second < 32) && !(second >= 60 && second < 120),
  ),
  slowestMs: 3_000,
};

/** @param failed how many of its first rows have failed */
async function addressOf(options: ChartedRunOptions, failed = 0): Promise<string> {
  const { lines, ...others } = chartedRun(options);
  const page = { folder: await temporaryFolder(), columns: ['id'], ...others };
  const told = lines.map(({ row, result }, index) => {
    const outcome = index < failed ? 'failed' : result.outcome;
    return { row, result: { ...result, outcome } };
  });
  return String(pathToFileURL(await writePageOf([told], page)));
}

/** The texts of the legends. */
function legends(page: Page): Promise<readonly string[]> {
  return page.locator('.legend').allTextContents();
}

/** Points at this share of the time axis of the first chart. */
async function pointAt(page: Page, share: number): Promise<void> {
  const area = page.locator('.u-over').first();
  const { width = 0 } = (await area.boundingBox()) ?? {};
  await area.hover({ position: { x: Math.round(width * share), y: 60 } });
}

describeWithBrowser('the charts of report.html', (open) => {
  test('show the figures of the whole run, and of the time under the pointer in both charts', async () => {
    const { page, complaints } = await open(await addressOf(eventful), { timezoneId: 'Europe/Berlin' });
    const whole = [
      'Whole runallowed 1/s to 50 calls/sachieved 36 calls/s on averagerejected 13 callswaiting 12 snot in progress 1 min',
      'Whole runp50 40 msp90 40 msp99 3 swaiting 12 snot in progress 1 min',
    ];
    await page.waitForSelector('canvas');
    expect(await legends(page)).toEqual(whole);
    const summaries = await page.locator('figcaption p').allTextContents();
    expect(summaries[0]).toBe(
      'Requested rate: auto. Peak achieved: 40 calls/s. Rejected as too many: 13 calls. These are calls, not rows: a row may need several. ' +
        'Shaded: the API asks to wait (12 s); the run was paused: maintenance (1 min).',
    );
    // 26 of 180 seconds.
    await pointAt(page, 26 / 180);
    await expect
      .poll(() => legends(page))
      .toEqual([
        expect.stringMatching(
          /^11:00:2\d UTC\+1allowed 1\/sachieved 0\/srejected –waiting 12 s: the API asks to wait/,
        ),
        expect.stringMatching(/^11:00:2\d UTC\+1p50 –p90 –p99 –waiting 12 s: the API asks to wait/),
      ]);
    await pointAt(page, 90 / 180);
    await page
      .locator('.legend')
      .first()
      .getByText(/not in progress 1 min: the run was paused: maintenance/)
      .waitFor();
    await page.locator('h1').hover();
    await expect.poll(() => legends(page)).toEqual(whole);
    // A part of the time can be seen closer, and all of it again.
    const reset = page.getByRole('button', { name: 'Show the whole run' });
    expect(await reset.count()).toBe(0);
    await pointAt(page, 0.2);
    await page.mouse.down();
    await pointAt(page, 0.4);
    await page.mouse.up();
    await reset.click();
    expect(await reset.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('have their data in tables, too, and can be used by everyone, also in the dark on a small screen', async () => {
    const viewport = { width: 380, height: 900 };
    const { page } = await open(await addressOf(eventful, 7), {
      timezoneId: 'UTC',
      viewport,
      colorScheme: 'dark',
    });
    await page.waitForSelector('canvas');
    expect((await legends(page)).at(-1)).toMatch(/^Whole runfailed 7 rowswaiting/);
    for (const table of await page.getByText('Data table').all()) await table.click();
    const rate = page.locator('figure').first();
    // An opened table is filled a moment later.
    await rate.locator('th').first().waitFor();
    expect(await rate.locator('th').allTextContents()).toEqual([
      'Time',
      'allowed',
      'achieved',
      'rejected',
      'Why no call',
    ]);
    const rows = await rate.locator('tbody tr').allTextContents();
    expect(rows).toHaveLength(120);
    expect(rows[19]).toBe('2026-01-01 10:00:20 UTC50/s40/s9 callsthe API asks to wait');
    await expectAccessible(page);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    // In less than ten seconds, there is nothing to draw, and nothing to head.
    const { page: short } = await open(await addressOf({ accepted: eventful.accepted.slice(0, 9) }, 7));
    await short.waitForSelector(isReady);
    expect(await short.getByText('Over time').count()).toBe(0);
    expect(await short.locator('canvas').count()).toBe(0);
    expect(await short.getByText('Data table').filter({ visible: true }).count()).toBe(0);
  });
});
