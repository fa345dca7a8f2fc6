import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { noOutcomes } from '../../src/domain/terms.ts';
import { enterState, type RunRecord, type RunState } from '../../src/engine/run/record/record.ts';
import { openRunStore } from '../../src/engine/run/record/store.ts';
import { plannedRecord } from '../engine/run/planned-record.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { describeWithBrowser, expectAccessible, stopClock } from '../helpers/browser.ts';
import { describeWithRedis, redisForTest } from '../helpers/redis-server.ts';
import { dashboardOf, newPlace } from './dashboard-place.ts';

/** The id of the element with the focus. */
const focused = (page: Page) => page.evaluate<string>('document.activeElement?.id');

/** A computed style of an element. */
const styleOf = (found: Locator, name: string) =>
  found.evaluate((element, property) => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle: (of: unknown) => Readonly<Record<string, string>>;
    };
    return getComputedStyle(element)[property] ?? '';
  }, name);

/** Clicks the button of a dialog by keyboard, as a reader without a mouse does. */
async function confirm(page: Page, name: string): Promise<void> {
  const dialog = page.locator('dialog[open]');
  await dialog.getByRole('button', { name, exact: true }).press('Enter');
  await dialog.waitFor({ state: 'detached' });
}

/** The contrast of two colors by WCAG: `rgb(1, 2, 3)`. */
function contrast(...colors: readonly [string, string]): number {
  const [darker = 0, lighter = 0] = colors
    .map((color) => {
      const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const value = Number(part) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .toSorted((one, other) => one - other);
  return (lighter + 0.05) / (darker + 0.05);
}

describeWithBrowser('the dashboard', (open) => {
  test('keeps the focus while it pauses, unpauses and cancels a run, and asks for nothing twice', async () => {
    const place = await newPlace(2_000, anyDatastore());
    const { control_url } = await dashboardOf(place, '--control');
    const run = place.going('--rate', '2/s');
    const { page, requests } = await open(control_url ?? '');
    const press = async (name: string) => {
      await page.locator('#actions-r').press('Enter');
      await row.getByRole('button', { name: `${name} run r` }).press('Enter');
    };
    const row = page.locator('#card-r');
    await press('Pause…');
    await confirm(page, 'Pause run');
    await row.getByText('paused', { exact: true }).waitFor();
    await expect.poll(() => focused(page)).toBe('actions-r');
    // A paused run is not blue, and is the first that needs a person.
    expect(await styleOf(row.locator('.state'), 'color')).toBe('rgb(160, 64, 0)');
    await page.getByRole('region', { name: 'Needs you' }).getByText('r is paused').waitFor();
    await press('Unpause…');
    // The server passes the command on; the run has not obeyed yet.
    await confirm(page, 'Unpause run');
    await row.getByText('running', { exact: true }).waitFor();
    await expect.poll(() => focused(page)).toBe('actions-r');

    for (const rate of ['3', '4']) {
      await press('Set rate…');
      await page
        .locator('dialog[open]')
        .getByText(/^Requested: .+ Allowed now: \d+ calls\/s\./)
        .waitFor();
      await page.getByLabel('Without a limit').check();
      await page.getByLabel('Always this number').check();
      expect(await focused(page)).toBe('rate-number');
      await page.getByLabel('Calls per second', { exact: true }).fill(rate);
      await confirm(page, 'Set rate');
      await row.getByText(new RegExp(`^${rate}/s since \\d\\d:\\d\\d`)).waitFor();
    }
    // Without a number, nothing is sent.
    await press('Set rate…');
    await page.getByLabel('Calls per second', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Set rate', exact: true }).click();
    expect(await focused(page)).toBe('rate-number');
    await page.keyboard.press('Escape');
    // A refusal opens the dialog that the reader has closed.
    await page.route('**/set-rate', async (route) => {
      await page.keyboard.press('Escape');
      await route.continue();
    });
    await press('Set rate…');
    await page.getByLabel('Calls per second', { exact: true }).fill('1e-2');
    await page.getByRole('button', { name: 'Set rate', exact: true }).click();
    await page.locator('dialog[open]').getByText('Rate "1e-2/s"').waitFor();
    await page.keyboard.press('Escape');

    await press('Cancel…');
    const facts = page.locator('dialog[open]').getByText(/rows will not be called/);
    const before = await facts.textContent();
    // The figures of the dialog are as new as those behind it.
    await expect.poll(() => facts.textContent()).not.toBe(before);
    const left = Number(before?.replace(/\D/g, ''));
    await page.locator('#typed').fill('2000');
    expect(left).toBeGreaterThan(1_000);
    await confirm(page, 'Cancel run');
    await page.getByRole('row', { name: /^r ⊘? ?cancelled/ }).waitFor();
    await expect.poll(() => focused(page)).toBe('run-r');
    expect(requests.filter((address) => address.includes('/runs/r/'))).toHaveLength(6);
    expect((await run.end).code).toBe(3);
    await expectAccessible(page);
  });

  test('says why runs stopped, what fails, and which run retries which', async () => {
    const place = await newPlace(0);
    const store = openRunStore(place.stateDir, operations);
    const save = async (id: string, state: RunState, changes: Partial<RunRecord>, reason?: string) => {
      await store.create(id);
      const planned = { ...plannedRecord, plan: { ...plannedRecord.plan, rows: 400, callable: 400 } };
      const running = enterState({ ...planned, id }, 'running');
      await store.save({ ...enterState(running, state, reason === undefined ? {} : { reason }), ...changes });
    };
    const counts = { ...noOutcomes(), succeeded: 25, failed: 375 };
    const fine = { ...noOutcomes(), succeeded: 400 };
    await save('first', 'completed', { counts, unclear: 3 });
    await save('again', 'completed', { counts: fine, retryOf: 'first' });
    await save('third', 'completed', { counts: { ...fine, succeeded: 399, failed: 1 }, unclear: 0 });
    await save('stopped', 'halted', { counts }, 'more than 5 % of the rows failed');
    await writeFile(join(store.folder('first'), 'report.html'), '');
    await writeFile(join(store.folder('first'), 'summary.json'), '{"retries":["again"]}');
    const { url } = await dashboardOf(place);
    const { page } = await open(url);
    const ids = () => page.locator('td a').allTextContents();
    await page.getByRole('row', { name: /^stopped .*halted more than 5 % of the rows failed/ }).waitFor();
    // Those that need a person come first: a run that was retried does not.
    expect(await ids()).toEqual(['stopped', 'third', 'again', 'first']);
    // Cards and their order: what has stopped, then failures. A run that was retried has no card.
    const cards = page.getByRole('region', { name: 'Needs you' }).getByRole('article');
    expect(await cards.getByRole('heading').locator('.state').allTextContents()).toEqual([
      'stopped is halted',
      '1 row of third failed',
    ]);
    expect(await page.title()).toBe('2 need you · cqbatch');
    await page.getByRole('row', { name: /^again ✓? ?completed/ }).waitFor();
    await page.getByRole('row', { name: /^third ✕? ?1 failed/ }).waitFor();
    await page.getByRole('button', { name: 'Failed' }).click();
    expect((await ids()).slice(2)).toEqual(['third', 'again']);
    const failed = page.getByRole('row', { name: /^first/ }).getByText('375 (94 %)');
    expect(await styleOf(failed, 'color')).toBe('rgb(194, 32, 50)');
    await page.getByRole('button', { name: 'Unclear' }).click();
    expect((await ids())[0]).toBe('first');
    const first = page.getByRole('link', { name: 'first' });
    await first.press('Enter');
    await expect.poll(() => focused(page)).toBe('back');
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('run-first');
    await first.click();
    await page.getByText('with the results of the retries again. This page has').waitFor();
    await page.getByText('Retried by').getByRole('link', { name: 'again' }).click();
    await page.getByText('This run is a retry of').getByRole('link', { name: 'first' }).waitFor();
    await expectAccessible(page);
  });

  test('copies the summary beside the other actions of a run, on a desk and on a phone', async () => {
    const place = await newPlace(2_000);
    const { url, control_url } = await dashboardOf(place, '--control');
    place.going('--rate', '2/s');
    const { page } = await open(control_url ?? '');
    await page.goto(`${url}/#run=r`);
    const copy = page.getByRole('button', { name: 'Copy summary' });
    await copy.waitFor();
    for (const width of [1_440, 380]) {
      await page.setViewportSize({ width, height: 800 });
      const tops = await page.evaluate<number[]>(
        '["#copy-summary", "#cancel-r"].map((each) => document.querySelector(each).getBoundingClientRect().top)',
      );
      expect(new Set(tops).size, `${width} pixels`).toBe(1);
      expect(await copy.count()).toBe(1);
    }
    // For two seconds, the button says that the text is copied, although the page is drawn again, which removes a foreign attribute.
    await stopClock(page);
    await copy.press('Enter');
    const copied = page.getByRole('button', { name: /^(Copied|Not allowed)$/ });
    await copied.waitFor();
    await page.locator('#trail').evaluate((trail) => trail.setAttribute('data-foreign', ''));
    await page.locator('#trail[data-foreign]').waitFor({ state: 'detached' });
    expect(await copied.count()).toBe(1);
    await page.clock.runFor(2_000);
    await copy.waitFor();
    await page.clock.resume();
    await expectAccessible(page);
  });

  test('keeps the session of its reader beside another dashboard of this machine', async () => {
    const place = await newPlace(2_000, anyDatastore());
    place.going('--rate', '2/s');
    const [one, other] = [await dashboardOf(place, '--control'), await dashboardOf(place, '--control')];
    const { page } = await open(one.control_url ?? '');
    await page.locator('#actions-r').waitFor();
    await page.goto(other.control_url ?? '');
    for (const { url } of [other, one, other]) {
      await page.goto(url);
      await page.locator('#card-r').waitFor();
      await page.locator('#actions-r').waitFor();
    }
  });

  test('shows borders, the bar and the chosen colors to readers with little sight', async () => {
    const place = await newPlace(2_000, anyDatastore());
    const { control_url } = await dashboardOf(place, '--control');
    place.going('--rate', '5/s');
    const { page } = await open(control_url ?? '');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, forcedColors: 'none' });
      await page.locator('.run .bar .succeeded').waitFor();
      const button = page.locator('#actions-r');
      const edge = await styleOf(button, 'borderTopColor');
      expect(contrast(edge, await styleOf(page.locator('body'), 'backgroundColor'))).toBeGreaterThan(3);
      await page.emulateMedia({ forcedColors: 'active' });
      const canvas = await styleOf(page.locator('body'), 'backgroundColor');
      expect(await styleOf(page.locator('.run .bar .succeeded'), 'backgroundColor')).not.toBe(canvas);
    }
  });
});

describeWithRedis('on Redis', () => {
  describeWithBrowser('the dashboard', (open) => {
    test('says while Redis is away that a run here waits, and that one elsewhere is unknown', async () => {
      const redis = await redisForTest();
      const shared = { CQBATCH_QUEUE: redis.url };
      const [place, elsewhere] = [await newPlace(2_000, shared), await newPlace(2_000, shared)];
      const { url } = await dashboardOf(place);
      place.going('--rate', '5/s');
      elsewhere.start('run', 'rows.csv', '--yes', '--run-id', 'far', '--rate', '5/s');
      const { page } = await open(url);
      const told = (id: string, text: string | RegExp) =>
        page.locator(`#card-${id}`).getByText(text).waitFor();
      await told('far', / left, /);
      await redis.kill();
      await told('far', 'last seen running');
      await told('r', 'waiting');
      // The page says why once, for all its runs.
      await expect.poll(() => page.getByText(/Redis at .+ does not answer/).count()).toBe(1);
      await redis.restart();
      for (const id of ['r', 'far']) await told(id, / left, /);
    });

    test('says for which run of a higher priority one waits, and which worker was killed', async () => {
      const { url: redis } = await redisForTest();
      const shared = { CQBATCH_QUEUE: redis };
      const place = await newPlace(2_000, shared);
      const worker = await place.worker();
      place.going('--rate', '5/s');
      const { url } = await dashboardOf(place);
      const { page } = await open(url);
      await page.locator('#card-r').getByText(' left, ').waitFor();
      const row = page.getByRole('row', { name: new RegExp(`^${worker.pid} on `) });
      await row.waitFor();
      worker.kill('SIGKILL');
      place.start('run', 'rows.csv', '--yes', '--run-id', 'urgent', '--priority', 'high', '--rate', '5/s');
      await page.locator('#card-urgent').getByText('high priority').waitFor();
      const card = page.locator('#card-r');
      await card.getByText(/^Waiting for urgent \(priority high\), /).waitFor();
      await card.getByText('waiting', { exact: true }).waitFor();
      await row
        .getByText(/^lost at (?:[\w-]+ )*\d\d:\d\d:\d\d UTC, (?:no call in flight|\d+ calls? unclear)$/)
        .waitFor();
    });

    test('keeps the focus in the table of workers, misses none for a paused run, and shows ended runs of other machines', async () => {
      const { url: redis } = await redisForTest();
      const place = await newPlace(2_000, { CQBATCH_QUEUE: redis });
      // More ended runs than a snapshot has.
      const elsewhere = await newPlace(0, { CQBATCH_QUEUE: redis });
      const store = openRunStore(elsewhere.stateDir, operations);
      for (let index = 0; index <= 50; index += 1) {
        await store.create(`old-${index}`);
        await store.save(enterState({ ...plannedRecord, id: `old-${index}` }, 'cancelled'));
      }
      const { url } = await dashboardOf(elsewhere);
      place.going('--rate', '5/s');
      const { page } = await open(url);
      const workers = page.getByRole('region', { name: 'Workers' });
      await workers.focus();
      const finished = workers.locator('td:nth-child(4)');
      const before = await finished.textContent();
      await expect.poll(() => finished.textContent()).not.toBe(before);
      expect(await focused(page)).toBe('table Workers');
      expect((await place.run('pause', 'r')).code).toBe(0);
      await page.getByText('Paused: no row is called').waitFor();
      expect(await page.getByText('No worker is running').count()).toBe(0);
      expect((await place.run('cancel', 'r', '--yes')).code).toBe(0);
      await page.getByRole('row', { name: /^r ⊘? ?cancelled/ }).waitFor();
      // It is newer than those of this machine.
      expect(await page.locator('td a').first().textContent()).toBe('r');
    });
  });
});
