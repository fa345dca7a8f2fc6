import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { expectAgreement } from './agreement.ts';
import { type Address, dashboardOf } from './dashboard-place.ts';
import { type Home, newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';
import { eventually, eventuallyTold, kindSandbox } from './redis/machine.ts';
import { calledIds, changingCalls, entries, renamedCsv, withChanges } from './soundboards.ts';

const embedded = {};
const sizes = [
  { width: 1440, height: 900 },
  { width: 380, height: 800 },
] as const;

const startingDashboard = (home: Home, ...flags: string[]) =>
  dashboardOf(home, '--control', '--start', ...flags);

/** Moves the focus to an element as a person without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < 300; tabs += 1) {
    if (await target.evaluate((each) => each.ownerDocument.activeElement === each)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`300 tabs do not lead to ${target}`);
}

async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

async function type(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}

async function chooseFile(page: Page, path: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await press(page, page.locator('#manifest-file'));
  await (await chooser).setFiles(path);
}

/** Looks at a page like a person who reloads it, and one who needs its names and contrasts. */
async function reloaded(page: Page, shown: Locator): Promise<void> {
  await shown.waitFor();
  await expectAccessible(page);
  await page.reload();
  await shown.waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}

const newTitles = (rows: number) =>
  Object.fromEntries(Array.from({ length: rows }, (_, at) => [at + 1, { title: `New ${at + 1}` }]));

describeWithBrowser('in a browser, the dashboard', (open) => {
  test.each(sizes)(
    'at $width pixels renames recordings from a file, by keyboard alone, with a reload at each step',
    async (viewport) => {
      const home = await newHome(0, ['--soundboards', '60', '--latency', '20ms'], embedded);
      const before = entries(home.sandbox);
      const path = join(home.cwd, 'titles.csv');
      await writeFile(path, renamedCsv(50));
      const address = await startingDashboard(home);
      const { page, complaints, requests } = await open(address.control_url ?? '', { viewport });
      await reloaded(page, page.getByText(`Runs go to ${home.sandbox.url}`));
      await chooseFile(page, path);

      const number = page.getByLabel('Type 50 to confirm');
      await reloaded(page, number);
      expect(await page.locator('h1').allTextContents()).toContain('titles.csv');
      await page.getByText('Recording 1', { exact: true }).waitFor();
      await press(page, page.getByRole('button', { name: 'Start the run' }));
      await page.getByText('Type the number of calls, 50, to show that you have read it.').waitFor();
      expect(await changingCalls(home.sandbox)).toEqual([]);
      await type(page, number, '50');
      await type(page, page.getByLabel('Reason'), 'new names');
      await page.keyboard.press('Enter');

      const goOn = page.getByRole('button', { name: /^Continue with 40 rows… run titles/ });
      await reloaded(page, goOn);
      expect(await calledIds(home.sandbox)).toHaveLength(10);
      await page.locator('.banner', { hasText: 'the first 10 rows are done, 0 failed' }).waitFor();
      await press(page, goOn);
      await page.getByText('Of its first 10 rows, 10 succeeded and 0 failed.').waitFor();
      await press(page, page.getByRole('button', { name: 'Continue', exact: true }));

      await reloaded(page, page.getByRole('button', { name: 'Undo…' }));
      await page.getByRole('heading', { name: 'All 50 soundboards updated.' }).waitFor();
      expect(entries(home.sandbox)).toEqual(withChanges(before, newTitles(50)));
      expect(await calledIds(home.sandbox)).toHaveLength(50);

      await press(page, page.getByRole('button', { name: 'Check', exact: true }));
      await page.getByText(/^Run titles\S* of titles\.csv, checked at .*: 50 as wanted\.$/).waitFor();
      await press(page, page.getByRole('button', { name: 'Undo…' }));
      await reloaded(page, number);
      await type(page, number, '50');
      await press(page, page.getByRole('checkbox', { name: /^Ten rows first/ }), 'Space');
      await press(page, page.getByRole('button', { name: 'Start the run' }));
      await reloaded(page, page.getByRole('button', { name: 'Check', exact: true }));
      await eventually(async () => (await calledIds(home.sandbox)).length === 100);
      expect(entries(home.sandbox)).toEqual(before);
      expect(complaints).toEqual([]);
      expect(requests.filter((each) => !each.startsWith(`${address.url}/`))).toEqual([]);
    },
  );

  test('edits titles in a table of the service, and sends only what was edited', async () => {
    const home = await newHome(0, ['--soundboards', '30'], embedded);
    const before = entries(home.sandbox);
    const { control_url } = await startingDashboard(home);
    const { page, complaints } = await open(control_url ?? '');
    await press(page, page.getByRole('link', { name: 'soundboards' }));
    const plan = page.getByRole('button', { name: 'Plan these edits' });
    await plan.waitFor();
    await expectAccessible(page);
    await press(page, plan);
    await page.getByText('Change the title of an entry first.').waitFor();
    await type(page, page.getByLabel('Search the entries'), 'Recording 7');
    // Only what is shown is searched: hidden dates and sizes have a 7, too.
    const others = page.locator('tbody tr', { hasNotText: '7' });
    await expect.poll(() => others.count()).toBe(0);
    await type(page, page.getByLabel('title of 7', { exact: true }), '<b>Seven</b>');
    await page.getByText('1 row changed.').waitFor();
    await press(page, plan);
    const number = page.getByLabel('Type 1 to confirm');
    await number.waitFor();
    await page.getByText('<b>Seven</b>').first().waitFor();
    await type(page, number, '1');
    await press(page, page.getByRole('button', { name: 'Start the run' }));
    await page.getByRole('heading', { name: /updated\.$/ }).waitFor();
    expect(entries(home.sandbox)).toEqual(withChanges(before, { 7: { title: '<b>Seven</b>' } }));
    expect(complaints).toEqual([]);
  });

  test('asks what a plan needs: the field of a column, and whether to leave rows out', async () => {
    const home = await newHome(0, ['--soundboards', '30'], embedded);
    const path = join(home.cwd, 'names.csv');
    await writeFile(path, 'soundboard_id,Name of it\n1,One\nx,Wrong\n3,Three\n');
    const { control_url } = await startingDashboard(home);
    const { page, complaints } = await open(control_url ?? '', { viewport: sizes[1] });
    await chooseFile(page, path);
    const again = page.getByRole('button', { name: 'Plan again' });
    await again.waitFor();
    await expectAccessible(page);
    const column = page.getByLabel('Column "Name of it"');
    await column.waitFor();
    await column.selectOption('title');
    await press(page, again);
    const leaveOut = page.getByLabel('Leave out 1 invalid row');
    await press(page, leaveOut, 'Space');
    await press(page, again);
    const number = page.getByLabel('Type 2 to confirm');
    await type(page, number, '2');
    await press(page, page.getByRole('button', { name: 'Start the run' }));
    await page.getByRole('heading', { name: /^2 of 3/ }).waitFor();
    expect((await calledIds(home.sandbox)).toSorted()).toEqual(['1', '3']);
    expect(complaints).toEqual([]);
  });

  test('resumes a halted run after its failures were shown and a reason was given, and retries what failed', async () => {
    const [unknown, known] = [restoreCsv(10, 5_000), restoreCsv(190)];
    const text = `${unknown.text}${known.text.replace(/^.*\n/, '')}`;
    const home = await newHome(text, kindSandbox, embedded);
    const halted = await home.run(
      'run',
      'rows.csv',
      '--yes',
      '--run-id',
      'r',
      '--concurrency',
      '1',
      '--max-failures',
      '5%',
    );
    expect(halted.code).toBe(3);
    const { control_url } = await startingDashboard(home);
    const { page, complaints } = await open(`${control_url}`);
    await press(page, page.getByRole('link', { name: 'r', exact: true }).first());
    await press(page, page.getByRole('button', { name: 'Resume…' }));
    const dialog = page.locator('dialog[open]');
    await dialog.getByText(/called rows failed/).waitFor();
    await dialog.getByRole('link', { name: 'Look at the failed rows first' }).waitFor();
    await expectAccessible(page);
    await press(page, dialog.getByRole('button', { name: 'Resume run' }));
    await dialog.getByText('Run r was halted: write why it may continue.').waitFor();
    await type(page, dialog.getByLabel(/^Reason/), 'the server is back');
    await press(page, dialog.getByRole('button', { name: 'Resume run' }));
    await page.getByRole('button', { name: 'Retry…' }).waitFor();
    await eventually(async () => (await home.stateOf('r')) === 'completed');
    await page.reload();
    await press(page, page.getByRole('button', { name: 'Retry…' }));
    await type(page, page.getByLabel('Type 10 to confirm'), '10');
    await press(page, page.getByRole('button', { name: 'Start the run' }));
    await page.getByText('This run is a retry of').waitFor();
    await page.getByRole('button', { name: 'Check', exact: true }).waitFor();
    expect(new Set(await calledIds(home.sandbox)).size).toBe(200);
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
  });

  test('goes on in its page after the server was killed at each step', async () => {
    const home = await newHome(0, ['--soundboards', '60', '--latency', '20ms'], embedded);
    const path = join(home.cwd, 'titles.csv');
    await writeFile(path, renamedCsv(50));
    let address: Address & {
      readonly served: { kill(signal: 'SIGKILL'): void; readonly end: Promise<unknown> };
    } = await startingDashboard(home, '--rate', '1/s');
    const { port } = address;
    const { page } = await open(address.control_url ?? '');
    /** Kills the server, and opens its new address where the person is. */
    const killed = async (): Promise<void> => {
      const { hash } = new URL(page.url());
      address.served.kill('SIGKILL');
      await address.served.end;
      await page.getByText(/No connection to the dashboard/).waitFor();
      address = await startingDashboard(home, '--port', String(port), '--rate', '1/s');
      await page.goto(address.control_url ?? '');
      await page.goto(`${address.url}/${hash}`);
    };
    await page.locator('#manifest-file').waitFor();
    await killed();
    await chooseFile(page, path);
    const number = page.getByLabel('Type 50 to confirm');
    await number.waitFor();
    await killed();
    await type(page, number, '50');
    await press(page, page.getByRole('button', { name: 'Start the run' }));
    const goOn = page.getByRole('button', { name: /^Continue with 40 rows… run titles/ });
    await goOn.waitFor();
    await killed();
    await press(page, goOn);
    await press(page, page.getByRole('button', { name: 'Continue', exact: true }));
    await page.getByText(/^(?:1[1-9]|[2-4]\d) of 50 soundboards updated so far\.$/).waitFor();
    await killed();
    const [, run = ''] = /#run=([\w-]+)/.exec(page.url()) ?? [];
    // The rate has left a slow machine time to look.
    await eventuallyTold(
      async () =>
        (await home.run('set-rate', run, 'none')).code === 0 || (await home.stateOf(run)) === 'completed',
    );
    await page.getByRole('heading', { name: 'All 50 soundboards updated.' }).waitFor();
    await killed();
    await page.getByRole('button', { name: 'Undo…' }).waitFor();
    expectAgreement(await home.report(run), await changingCalls(home.sandbox), { killed: true });
    expect(new Set(await calledIds(home.sandbox)).size).toBe(50);
  });

  test('shows the rows of the latest plan only, also after a step back and forward', async () => {
    const home = await newHome(0, ['--soundboards', '30'], embedded);
    const path = join(home.cwd, 'titles.csv');
    await writeFile(path, renamedCsv(2));
    const { control_url } = await startingDashboard(home);
    const { page, complaints } = await open(control_url ?? '');
    await chooseFile(page, path);
    await page.getByLabel('Type 2 to confirm').waitFor();
    await page.locator('#choices summary').click();
    const planned = page.waitForResponse((answer) => answer.url().endsWith('/plan.html'));
    await page.getByRole('button', { name: 'Plan again' }).click();
    await planned;
    await page.locator('.draft[aria-busy=false]').waitFor();
    await page.getByText('New 1', { exact: true }).first().click();
    const row = page.locator('dialog[open]');
    await row.waitFor();
    await page.goBack();
    await row.waitFor({ state: 'detached' });
    await page.goForward();
    await row.waitFor();
    expect(await row.count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test('says in the page why it takes no file above 20 MB and no program, and sends nothing', async () => {
    const home = await newHome(0, kindSandbox, embedded);
    const [big, program] = [join(home.cwd, 'big.csv'), join(home.cwd, 'program.exe')];
    await writeFile(big, Buffer.alloc(20_000_001, 'x'));
    await writeFile(program, Buffer.from([0x4d, 0x5a, 0, 0, 1, 2, 3, 0]));
    const { control_url } = await startingDashboard(home);
    const { page, requests } = await open(control_url ?? '');
    await chooseFile(page, big);
    await page.getByText(/^big\.csv is larger than 20 MB, the most that a page takes\./).waitFor();
    expect(requests.filter((each) => each.includes('/drafts'))).toEqual([]);
    await chooseFile(page, program);
    await page.locator('.refusal').waitFor();
    expect(await page.locator('#start').count()).toBe(0);
    await expectAccessible(page);
    expect(await home.sandbox.log()).toEqual([]);
  });
});
