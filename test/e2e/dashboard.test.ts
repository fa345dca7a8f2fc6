import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { openScheduleStore } from '../../src/daemon/schedule/store.ts';
import { noOutcomes } from '../../src/domain/terms.ts';
import { enterState } from '../../src/engine/run/record/record.ts';
import { openRunStore } from '../../src/engine/run/record/store.ts';
import type { Snapshot } from '../../src/pages/server/page-data.ts';
import { nightly } from '../daemon/schedule/nightly.ts';
import { plannedRecord } from '../engine/run/planned-record.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { eventsFrom } from '../helpers/event-stream.ts';
import { describeWithRedis, redisForTest } from '../helpers/redis-server.ts';
import { type Address, dashboardOf, newPlace, proxyWithTls } from './dashboard-place.ts';

const succeeded = ({ runs }: Snapshot) => runs[0]?.counts.succeeded ?? 0;

test('the dashboard follows a run of the state folder to its end, and ends in order', async () => {
  const place = await newPlace(1_000);
  const { served, url } = await dashboardOf(place);
  const events = await eventsFrom<Snapshot>(`${url}/events?run=r`, 'snapshot');
  expect(await events.until(() => true)).toMatchObject({ runs: [], ended: [], mayControl: false });
  const run = place.going('--rate', '5/s');
  await events.until((data) => succeeded(data) > 0);
  await place.hurry();
  // The report is there before the record says that the run has ended.
  const { ended } = await events.until(({ ended, report }) => ended.length > 0 && report !== undefined);
  expect(ended).toMatchObject([{ id: 'r', state: 'completed', counts: { succeeded: 1_000 } }]);
  expect((await run.end).code).toBe(0);
  expect(await (await fetch(`${url}/runs/r/report.html`)).text()).toContain('<!doctype html>');
  served.kill('SIGTERM');
  expect((await served.end).code).toBe(0);
});

/** Exchanges the address for control as a browser does; what is given asks a run to do something. */
async function controlAt({ url, control_url }: Address) {
  const entered = await fetch(control_url ?? '', { redirect: 'manual' });
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return async (control: string, body: object = {}) => {
    const { status } = await fetch(`${url}/runs/r/${control}`, {
      method: 'POST',
      headers: { cookie, origin: url, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return status;
  };
}

describeWithRedis('on Redis, the dashboard', () => {
  test('controls a run of another machine', async () => {
    const { url: redis } = await redisForTest();
    const shared = { CQBATCH_QUEUE: redis };
    const place = await newPlace(1_000, shared);
    const elsewhere = await newPlace(0, shared);
    const address = await dashboardOf(elsewhere, '--control');
    const events = await eventsFrom<Snapshot>(`${address.url}/events`, 'snapshot');
    const ask = await controlAt(address);
    const run = place.going('--rate', '5/s');
    await events.until((data) => succeeded(data) > 0);
    const state = (wanted: string) => events.until(({ runs }) => runs[0]?.state === wanted);

    expect(await ask('unpause')).toBe(409);
    expect(await ask('pause')).toBe(202);
    await state('paused');
    expect(await ask('set-rate', { rate: '6/s' })).toBe(202);
    await events.until(({ runs }) => runs[0]?.wantedRate === '6/s');
    expect(await ask('unpause')).toBe(202);
    await state('running');
    expect(await ask('cancel', { confirm: 'r' })).toBe(202);
    expect((await run.end).code).toBe(3);
  });
});

function selection(page: Page): Promise<string> {
  return page.evaluate<string>('String(getSelection())');
}

/** As if the reader had chosen another tab. */
function setHidden(page: Page, value: boolean): Promise<void> {
  return page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${value}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`,
  );
}

describeWithBrowser('in a browser, the dashboard', (open) => {
  test('shows the rows of a run in progress, and keeps what was chosen and is open', async () => {
    const place = await newPlace(900, anyDatastore());
    const { url } = await dashboardOf(place);
    const run = place.going('--rate', '2/s');
    const { page, complaints, requests } = await open(`${url}/#run=r`);
    const found = (text: RegExp) => page.locator('.found', { hasText: text }).waitFor();
    const rowsShown = () => page.locator('.rows tbody td:first-child').allTextContents();
    await found(/^All 900 rows$/);
    // The bar filters what the report has, which may be older.
    await page.locator('.ledger .succeeded').waitFor({ state: 'attached' });
    await page.locator('.bar .succeeded').click();
    await found(/ of 900 rows$/);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('All codes').selectOption('PENDING');
    await page.getByRole('button', { name: 'evaluation_id' }).click();
    await page.getByRole('button', { name: 'evaluation_id' }).click();
    // The last row comes first, and is called last.
    expect((await rowsShown())[0]).toBe('900');
    // Each result changes the text of this button, which keeps the focus, and numbers beside texts that the reader has selected.
    const copy = page.getByRole('button', { name: 'Copy summary' });
    for (const text of ['.codes .quiet', '.rows tbody .code']) {
      await copy.focus();
      await page.evaluate(`getSelection().selectAllChildren(document.querySelector('${text}'))`);
      const [summary, selected] = [await copy.getAttribute('data-copy'), await selection(page)];
      await expect.poll(() => copy.getAttribute('data-copy')).not.toBe(summary);
      expect(await page.evaluate('document.activeElement?.textContent')).toBe('Copy summary');
      expect([selected, await selection(page)]).toEqual([expect.stringMatching(/\w/), selected]);
    }
    await page.evaluate('getSelection().removeAllRanges()');
    await page.locator('.rows tbody tr').first().click();
    const story = page.locator('dialog[open]');
    expect(await story.textContent()).toContain('not finished yet');
    await expectAccessible(page);
    await place.hurry();
    // What was chosen and what is open stays, with what has come of it.
    await story.getByText('succeeded').waitFor();
    expect(await story.textContent()).toContain('Row 900');
    await page.keyboard.press('Escape');
    await found(/^0 of 900 rows$/);
    await page.getByLabel('All codes').selectOption('');
    expect((await rowsShown())[0]).toBe('900');
    await page.getByRole('link', { name: 'report.html' }).waitFor();
    // The ledger has the counts.
    await page.locator('.ledger', { hasText: '900 succeeded' }).waitFor();
    await expect.poll(() => page.locator('p', { hasText: '900 succeeded' }).count()).toBe(0);
    expect((await run.end).code).toBe(0);
    expect(complaints).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(`${url}/`))).toEqual([]);
  });

  test('shows hostile names as text, and cancels a run only with the control URL', async () => {
    const name = '<img src=x onerror=alert(1)>.csv';
    const place = await newPlace(2_000, anyDatastore(), name);
    const { url, control_url } = await dashboardOf(place, '--control');
    const run = place.going('--rate', '5/s', '--attempts', '1', '--max-failures', 'none');
    const { page, complaints, requests } = await open(control_url ?? '', {
      viewport: { width: 380, height: 800 },
    });
    await page.getByText(name).waitFor();
    await place.sandbox.requested(3);
    place.sandbox.configure({ fault: '500=60%' });
    const needs = page.getByRole('region', { name: 'Needs you' });
    await needs
      .getByText(/^[\d,]+ of [\d,]+ called rows failed, (?:all|mostly|most often) with INTERNAL.*\.$/)
      .waitFor();
    expect(page.url()).toBe(`${url}/`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380);
    // What it is, what it does, a bar and its counts.
    const { height = 0 } = (await page.locator('.run').boundingBox()) ?? {};
    expect(height).toBeLessThan(170);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
    await page.getByRole('link', { name: 'r', exact: true }).click();
    await page.getByText('History').click();
    await page.getByRole('cell', { name: 'running' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Cancel… run r' }).click();
    await page.getByRole('heading', { name: 'Cancel run r permanently?' }).waitFor();
    await page.getByText(/^[\d,]+ rows will not be called\.$/).waitFor();
    await page
      .getByText(/^[\d,]+ rows? (?:has|have) succeeded .*: cancelling takes nothing back\./)
      .waitFor();
    await expectAccessible(page);
    await page.getByLabel('Reason').fill('wrong file');
    const cancel = page.getByRole('button', { name: 'Cancel run', exact: true });
    // Above a thousand rows, a number shows that the reader has read it.
    await cancel.click();
    await page.getByRole('alert').getByText('Type the number of rows, 2,000').waitFor();
    expect(await page.evaluate('document.activeElement?.id')).toBe('typed');
    await page.keyboard.type('2,000');
    await cancel.click();
    await page.getByRole('heading', { name: /^Run cancelled: / }).waitFor();
    // The button is gone: the focus is not lost.
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('All runs');
    await page.getByRole('cell', { name: 'wrong file (on the dashboard)' }).waitFor();
    expect((await run.end).code).toBe(3);
    expect(complaints).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(`${url}/`))).toEqual([]);
  });

  test('changes nothing by Enter alone, whatever it asks', async () => {
    const place = await newPlace(2_000, anyDatastore());
    const { control_url } = await dashboardOf(place, '--control');
    place.going('--rate', '5/s');
    const { page, requests } = await open(control_url ?? '');
    for (const name of ['Pause…', 'Set rate…', 'Cancel…']) {
      await page.locator('#actions-r').press('Enter');
      await page.getByRole('button', { name: `${name} run r` }).press('Enter');
      const dialog = page.locator('dialog[open]');
      await dialog.waitFor();
      expect(await page.evaluate('document.activeElement?.textContent')).toBe('Back');
      for (const field of await dialog.locator('input:enabled:visible').all()) {
        await field.focus();
        await page.keyboard.press('Enter');
      }
      await dialog.getByRole('button', { name: 'Back' }).focus();
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      // The menu has closed, and its button has the focus.
      await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('actions-r');
      await expect.poll(() => page.locator('#menu-r[open]').count()).toBe(0);
    }
    expect(requests.filter((address) => address.includes('/runs/r/'))).toEqual([]);
    // Opened again, the address leads to the dashboard, in another browser with a click and without control.
    await page.goto(control_url ?? '');
    await page.locator('#actions-r').waitFor();
    const other = await open(control_url ?? '');
    await other.page.getByRole('link', { name: 'Look at the dashboard' }).click();
    await other.page.getByRole('link', { name: 'r', exact: true }).waitFor();
    expect(await other.page.getByRole('button').count()).toBe(0);
  });

  test('finds ended runs, also those that it does not show at first, and lists the next times of each schedule', async () => {
    const place = await newPlace(0);
    const store = openRunStore(place.stateDir, operations);
    const states = [{ state: 'running', at: '2026-01-01T00:00:00.000Z', atWorkMs: 90_000 }] as const;
    const by = { user: 'ana', host: 'desk' };
    const special = {
      ...plannedRecord,
      states: states.map((entry) => ({ ...entry, by })),
      options: { ...plannedRecord.options, baseUrl: 'https://other.example' },
      unclear: 12,
    };
    for (let index = 1; index <= 120; index += 1) {
      const id = `night-${String(index).padStart(3, '0')}`;
      await store.create(id);
      const isSpecial = index === 7;
      const counts = { ...noOutcomes(), [isSpecial ? 'failed' : 'succeeded']: plannedRecord.plan.rows };
      const record = { ...(isSpecial ? special : plannedRecord), id, counts };
      await store.save(enterState(record, isSpecial ? 'cancelled' : 'completed'));
    }
    await openScheduleStore(store.stateDir).add({ ...nightly, name: 'hourly', cron: '0 * * * *' });
    const { url } = await dashboardOf(place);
    const { page } = await open(url, { viewport: { width: 380, height: 800 }, timezoneId: 'Asia/Kolkata' });
    const shown = () => page.locator('td a').allTextContents();
    const all = page.getByRole('button', { name: 'Show all 120' });
    await all.waitFor();
    expect(await shown()).toHaveLength(20);
    const next = page.getByRole('row', { name: 'hourly' }).locator('li time');
    expect(await next.allTextContents()).toEqual(Array(3).fill(expect.stringMatching(/^in /)));
    for (const time of await next.all())
      expect(await time.getAttribute('title')).toMatch(/:30:00 UTC\+5:30$/);
    const search = page.getByLabel('Search ended runs');
    for (const words of [
      'CANCELLED night',
      'other.example',
      'ana desk',
      'failed',
      '12 unclear',
      '1 min 30 s',
    ]) {
      await search.fill(words);
      expect(await shown()).toEqual(['night-007']);
    }
    await expectAccessible(page);
    await search.fill('');
    await all.click();
    expect(await shown()).toHaveLength(120);
    expect(await page.evaluate('document.activeElement?.id')).toBe('table Ended runs');
  });

  test('is live in eight tabs and controls runs under a path of a proxy with TLS', async () => {
    const place = await newPlace(2_000, anyDatastore());
    const run = place.going('--rate', '5/s');
    const proxy = await proxyWithTls('/cqbatch');
    const address = await dashboardOf(place, '--control', '--public-url', proxy.url);
    proxy.leadTo(address.port);
    expect(address.control_url).toContain(`${proxy.url}control?token=`);
    const first = await open(address.control_url ?? '', { ignoreHTTPSErrors: true });
    const context = first.page.context();
    let last = first.page;
    await last.getByRole('link', { name: 'r', exact: true }).click();
    for (let tabs = 1; tabs < 8; tabs++) {
      await last.getByRole('button', { name: 'Pause… run r' }).waitFor();
      // A browser without a screen shows all its tabs.
      await setHidden(last, true);
      last = await context.newPage();
      await last.goto(`${proxy.url}#run=r`);
    }
    await last.getByRole('button', { name: 'Pause… run r' }).click();
    await last.getByRole('button', { name: 'Pause run', exact: true }).click();
    await last.getByRole('button', { name: 'Unpause… run r' }).waitFor();
    await setHidden(first.page, false);
    await first.page.getByRole('button', { name: 'Unpause… run r' }).waitFor();
    run.kill('SIGTERM');
    await run.end;
    expect(first.complaints).toEqual([]);
  });

  test('shows heading, table, steps and progress of one moment on the page of a run', async () => {
    const place = await newPlace(900, anyDatastore());
    const { url } = await dashboardOf(place);
    place.sandbox.configure({ fault: '500=40%' });
    const run = place.going('--rate', '3/s', '--attempts', '1', '--max-failures', 'none');
    const { page } = await open(`${url}/#run=r`);
    await page.locator('.codes').getByText('INTERNAL', { exact: true }).waitFor();
    // After each change of the page, before it is painted.
    await page.evaluate(`
      globalThis.seen = [];
      const numbers = (text) => (text ?? '').match(/\\d+/g)?.map(Number) ?? [];
      const rowsOf = (code) => [...document.querySelectorAll('.codes tr')]
        .filter((row) => row.textContent.includes(code))
        .flatMap((row) => numbers(row.querySelector('td.number')?.textContent))[0] ?? 0;
      new MutationObserver(() => {
        const [restored, , need = 0] = numbers(document.querySelector('h1')?.textContent);
        const figures = [...document.querySelectorAll('p')].find(({ textContent }) => /^\\d+\\/\\d+ \\(/.test(textContent));
        const step = document.querySelector('.steps')?.textContent;
        const [stepRows = 0] = numbers(/(\\d+) rows?/.exec(step)?.[0]);
        if (figures === undefined) return;
        const [done] = numbers(figures.textContent);
        seen.push([restored + need, done, rowsOf('OK') + rowsOf('INTERNAL'), need, rowsOf('INTERNAL'), stepRows]);
      }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
    `);
    const seen = () => page.evaluate<number[][]>('seen');
    await expect.poll(async () => new Set((await seen()).map(([done]) => done)).size).toBeGreaterThan(3);
    for (const [heading, progress, codes, need, failed, step] of await seen()) {
      expect([progress, codes]).toEqual([heading, heading]);
      expect([failed, step]).toEqual([need, need]);
    }
    await place.hurry();
    await run.end;
  });

  test('begins with what needs a person, by keyboard and on a phone, and keeps a refused file until it was seen', async () => {
    const place = await newPlace(0);
    const store = openScheduleStore(place.stateDir);
    const at = new Date().toISOString();
    for (const name of ['often', 'rare']) {
      await store.add({ ...nightly, name, source: { inbox: '/data/inbox' } });
      const refusal = { due: at, result: 'began', at, runs: [], refused: ['bad.csv'] } as const;
      const history = [
        { ...refusal, runs: [], refused: [...refusal.refused] },
        { due: at, result: 'idle' } as const,
      ];
      await store.saveState(name, { version: 1, history });
    }
    const { url, control_url } = await dashboardOf(place, '--control');
    const { page, complaints } = await open(control_url ?? '');
    const reader = await open(url, { viewport: { width: 380, height: 800 } });
    for (const each of [page, reader.page]) {
      const titles = each.getByRole('region', { name: 'Needs you' }).locator('.state');
      await expect
        .poll(() => titles.allTextContents())
        .toEqual(['No daemon is running', 'A file of often was refused', 'A file of rare was refused']);
      expect(await each.title()).toBe('3 need you · cqbatch');
      expect(await each.locator('link[rel=icon]').getAttribute('href')).toContain(
        encodeURIComponent('#e5484d'),
      );
      await expectAccessible(each);
      // The schedule says it, too, after an occasion without a file.
      const often = each.getByRole('row', { name: /^often/ });
      await often.getByText('the inbox was empty').waitFor();
      await often.getByText('bad.csv refused').waitFor();
    }
    expect(await reader.page.evaluate('document.documentElement.scrollWidth')).toBe(380);
    const schedules = reader.page.getByRole('region', { name: 'Schedules' });
    const widths = await schedules.evaluate((table) => {
      const { scrollWidth, clientWidth } = table as unknown as Readonly<Record<string, number>>;
      return { scrollWidth, clientWidth };
    });
    expect(widths.scrollWidth).toBe(widths.clientWidth);
    // A reader who may not control runs dismisses nothing.
    expect(await reader.page.getByRole('button', { name: 'Seen' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Seen' }).first().press('Enter');
    for (const each of [page, reader.page]) {
      await each.getByText('A file of often was refused').waitFor({ state: 'detached' });
      await each.getByText('A file of rare was refused').waitFor();
    }
    // The button is gone: the focus is not lost.
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('home');
    expect([complaints, reader.complaints]).toEqual([[], []]);
  });

  test('says when its server no longer answers, and that control ended with the old server', async () => {
    const place = await newPlace(2_000, anyDatastore());
    const { served, url, control_url } = await dashboardOf(place, '--control');
    place.going('--rate', '5/s');
    const { page } = await open(control_url ?? '');
    const status = (text: string | RegExp) => page.locator('header').getByText(text).waitFor();
    await status('live');
    // The page has learned that it may control runs.
    await page.locator('main[aria-busy=false]').waitFor();
    await page.locator('#card-r').getByText(' left, ').waitFor();
    served.kill('SIGSTOP');
    await status('No connection to the dashboard');
    served.kill('SIGCONT');
    await status('live');
    await page.locator('#actions-r').press('Enter');
    await page.getByRole('button', { name: 'Pause… run r' }).press('Enter');
    served.kill('SIGKILL');
    await status('No connection to the dashboard');
    // Gray, without estimates and without control: the page says how old its state is.
    await status(/^ Last known state, [\d.]+ s old\.$/);
    await page.locator('main.stale').waitFor();
    const run = page.locator('#card-r');
    await run.getByText('last seen running').waitFor();
    expect(await run.getByText(/ left/).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Pause run' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.locator('#actions-r').count()).toBe(0);
    expect(await page.title()).toMatch(/^\? \d+ % r · cqbatch$/);
    await dashboardOf(place, '--control', '--port', new URL(url).port);
    await page.getByText('You can no longer control runs here').waitFor();
    await status('live');
  });
});
