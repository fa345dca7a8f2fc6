import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { cqbatchAtTerminal, finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';
import { cellsUnder, finds, found, isReady } from './report-rows.ts';

const header = 'operation,evaluation_id,user_id,soundboard_id,title,old_title,description,note';
const rows = [
  'restore-evaluation,7,ana,,,,,',
  'update-soundboard,,,41,Greeting (new),Greeting,,for the spring',
  'update-soundboard,,,42,Hold,,<clear>,',
  'update-soundboard,,,42x,Transfer,,,',
  'restore-evaluation,7,ana,,,,,',
  'update-soundboard,,,43,N/A,Survey,,',
];
const text = `${[header, ...rows].join('\n')}\n`;

const show = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).click();

/** What an operating system opens pages with: it notes their paths, and keeps the last one. */
async function noting() {
  const folder = await temporaryFolder();
  const opener = join(folder, 'xdg-open');
  await writeFile(opener, `#!/bin/sh\ncp "$1" '${folder}/page' && echo "$1" >> '${folder}/opened'\n`);
  await chmod(opener, 0o755);
  return {
    PATH: `${folder}:${process.env['PATH']}`,
    page: () => readFile(join(folder, 'page'), 'utf8'),
    opened: async (): Promise<string> => {
      for (;;) {
        const noted = await readFile(join(folder, 'opened'), 'utf8').catch(() => '');
        if (noted !== '') return noted.trim();
        await new Promise(setImmediate);
      }
    },
  };
}

describeWithBrowser('the page of a plan', (open) => {
  test('says what will happen, where and what is wrong, finds rows, shows requests, and requests nothing', async () => {
    const { cwd, run, sandbox } = await newHome(text);
    const planned = await run('plan', 'rows.csv', '--html', 'plan.html', '--rate', '20/s', '--json');
    expect(planned.code).toBe(2);
    expect(JSON.parse(planned.stdout)).toMatchObject({ invalid: 1, ready: false, page: 'plan.html' });
    expect((await stat(join(cwd, 'plan.html'))).mode & 0o777).toBe(0o600);
    const url = String(pathToFileURL(join(cwd, 'plan.html')));
    const { page, complaints, requests } = await open(url);
    await page.waitForSelector(isReady);

    expect(await page.locator('h1').textContent()).toBe(
      'Not ready: nothing is sent. As it is, 4 calls would restore 1 evaluation and update 3 soundboards.',
    );
    expect(await page.locator('.refusal').first().textContent()).toContain('1 row of rows.csv is invalid');
    expect(await page.locator('.target').textContent()).toContain(`4 calls to ${sandbox.url}`);
    expect(await page.locator('.points').textContent()).toContain('about 1 s at 20 calls/s');
    // It opens on the rows that must be corrected.
    expect(await found(page)).toBe('1 of 6 rows: invalid');
    expect((await cellsUnder(page, 'Old → new'))[0]).toMatch(/^42xmust be a whole number/);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Show all rows' }).click();
    expect(await found(page)).toBe('All 6 rows');
    for (const [chip, numbers] of [
      [/^3 edits/, ['2', '3', '3', '6']],
      [/^1 restore/, ['1']],
      [/^1 clears a field/, ['3', '3']],
      [/^1 duplicate/, ['5']],
      [/^1 has a warning/, ['6']],
    ] as const) {
      await show(page, chip);
      expect(await cellsUnder(page, 'Row')).toEqual(numbers);
    }
    await show(page, /^3 edits/);
    expect(await cellsUnder(page, 'Old → new')).toEqual([
      'Greeting→Greeting (new)',
      '?→Hold',
      '?→(cleared)',
      'Survey→N/Asent as it is; if it means nothing, empty the cell',
    ]);
    expect(await page.locator('.rows del').allTextContents()).toEqual(['Greeting', 'Survey']);
    await page.getByRole('searchbox').fill('spring');
    await finds(page, /^1 of/);
    await page.locator('.rows').press('Enter');
    const story = page.locator('dialog');
    expect(await story.locator('pre').textContent()).toMatch(
      new RegExp(`^POST ${sandbox.url}/api/v1alpha1/.*\\n\\{.*"Greeting \\(new\\)"`),
    );
    expect(await story.textContent()).toContain('for the spring');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    // A step leads to another row, not to another change of the same one.
    await show(page, /^6 rows/);
    await page.locator('.rows tbody tr').nth(2).click();
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await page.locator('#story-title').textContent()).toContain('Row 4, line 5 · ');
    await page.getByRole('button', { name: 'Previous' }).click();
    expect(await page.locator('#story-title').textContent()).toContain('Row 3, line 4 · soundboard 42 · ');
    await page.keyboard.press('Escape');

    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 380, height: 800 });
    await page.getByText('Entry, old → new').waitFor();
    await show(page, /^6 rows/);
    expect(await cellsUnder(page, 'Entry, old → new')).toContain(
      'soundboard 41edittitleGreeting→Greeting (new)',
    );
    await expectAccessible(page);
    expect(
      await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    expect(new Set(await cellsUnder(page, 'Row'))).toEqual(new Set(['1', '2', '3', '4', '5', '6']));
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [url] });
    expect(await sandbox.log()).toEqual([]);
  });

  test('shows hostile and right-to-left texts as texts, each in its own order', async () => {
    const hostile = [
      '<script>globalThis.hit = 1</script>',
      '</script><!--<script>',
      '"><img src=x onerror="globalThis.hit = 2">',
      'invoice\u202egpj.exe',
      'a\u2028b',
      'שלום עולם',
      'x'.repeat(100_000),
    ];
    const lines = hostile.map((value, index) =>
      JSON.stringify({
        soundboard_id: 41 + index,
        title: value,
        old_title: `old ${value}`,
        [hostile[2] as string]: value,
      }),
    );
    const { cwd, run } = await newHome(lines.join('\n'));
    await run('plan', 'rows.csv', '--html', '<b>.html', '--allow-partial');
    const url = String(pathToFileURL(join(cwd, '<b>.html')));
    const { page, complaints, requests } = await open(url);
    await page.waitForSelector(isReady);
    const shown = hostile.map((value) => value.replace('\u202e', '\\u202e'));
    const cut = shown.map((value) => (value.length > 200 ? `${value.slice(0, 200)}…` : value));
    expect(await page.locator('.rows ins').allTextContents()).toEqual(cut);
    for (const index of hostile.keys()) {
      await page
        .locator(`.rows tbody tr:nth-child(${index + 1}) td`)
        .first()
        .click();
      expect(await page.locator('dialog ins').textContent()).toContain((shown[index] ?? '').slice(0, 20_000));
      await page.keyboard.press('Escape');
    }
    await page.setViewportSize({ width: 380, height: 800 });
    await page.getByText('Entry, old → new').waitFor();
    expect(
      await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
    await expectAccessible(page);
    expect(await page.evaluate(() => (globalThis as { hit?: unknown }).hit)).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [url] });
  });

  test('handles 100,000 rows in less than 4 MB', async () => {
    const edits = Array.from(
      { length: 100_000 },
      (_, index) => `${50_000 + 3 * index},Title ${index} (new),Title ${index},Text of team ${index % 97}`,
    );
    const { cwd, run } = await newHome(`soundboard_id,title,old_title,description\n${edits.join('\n')}\n`);
    expect((await run('plan', 'rows.csv', '--html', 'plan.html', '--allow-partial')).code).toBe(0);
    expect((await stat(join(cwd, 'plan.html'))).size).toBeLessThan(4_000_000);
    const { page, complaints } = await open(String(pathToFileURL(join(cwd, 'plan.html'))));
    await page.waitForSelector(isReady);
    expect(await found(page)).toBe('All 100,000 rows');
    expect(await page.locator('.rows tbody tr').count()).toBeLessThan(60);
    await page.locator('.rows').press('End');
    expect((await cellsUnder(page, 'Row')).at(-1)).toBe('100000');
    await page.locator('.rows').press('Enter');
    expect(await page.locator('dialog pre').textContent()).toContain('"title":"Title 99999 (new)"');
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('"title 4711 "');
    await finds(page, /^1 of/);
    expect(complaints).toEqual([]);
  });
});

test('--open shows the page, which stands in the state folder; so it does for a plan file', async () => {
  const { PATH, opened } = await noting();
  const { cwd, run, runWith } = await newHome('evaluation_id,user_id\n1,u\n');
  await run('plan', 'rows.csv', '--out', 'week.cqplan');
  for (const file of ['rows.csv', 'week.cqplan']) {
    const { code, stdout } = await runWith({ PATH }, 'plan', file, '--open', '--json');
    expect(code).toBe(0);
    const { page } = JSON.parse(stdout);
    expect(page).toMatch(/^\.cqbatch\/pages\/rows\.[0-9a-f]{8}\.csv\.html$/);
    expect(await opened()).toContain(join(cwd, page));
    expect(await readFile(join(cwd, page), 'utf8')).toContain(`cqbatch run ${file}`);
  }
});

test('an undo is shown as a page, and nothing is sent', async () => {
  const { cwd, run, sandbox } = await newHome('soundboard_id,title,old_title\n41,New,Old\n');
  await run('run', 'rows.csv', '--yes', '--allow-partial', '--run-id', 'r');
  expect((await run('undo', 'r', '--html', 'undo.html')).code).toBe(0);
  const page = await readFile(join(cwd, 'undo.html'), 'utf8');
  expect(page).toContain('1 call will update 1 soundboard.');
  expect(page).toContain('<code>cqbatch undo r</code>');
  expect(await sandbox.log()).toHaveLength(1);
});

test('--html replaces a page of a plan, and no other file', async () => {
  const { cwd, run } = await newHome('evaluation_id,user_id\n1,u\n');
  for (const _ of [1, 2]) expect((await run('plan', 'rows.csv', '--html', 'plan.html')).code).toBe(0);
  await writeFile(join(cwd, 'mine.html'), 'mine');
  expect(await run('plan', 'rows.csv', '--html', 'mine.html')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('mine.html already exists and is no page of a plan'),
  });
  expect(await run('plan', 'rows.csv', '--html', 'rows.csv')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('write a name that ends with .html'),
  });
  expect(await readFile(join(cwd, 'mine.html'), 'utf8')).toBe('mine');
});

test('at the question, p shows the plan, and the question comes again', async () => {
  const { PATH, opened } = await noting();
  const { cwd, env, sandbox } = await newHome('evaluation_id,user_id\n1,u\n');
  const ended = await cqbatchAtTerminal(
    ['run', 'rows.csv', '--run-id', 'r'],
    { cwd, env: { ...env, PATH } },
    ['(p opens it)', 'p\n'],
    ['[y/N]', 'y\n'],
  );
  expect(ended.code).toBe(0);
  expect(ended.stdout.match(/\[y\/N\]/g)?.length).toBeGreaterThanOrEqual(2);
  expect(await opened()).toBe(join(cwd, '.cqbatch/runs/r/plan.html'));
  expect(await readFile(join(cwd, '.cqbatch/runs/r/plan.html'), 'utf8')).toContain('waits for your answer');
  expect(await sandbox.log()).toHaveLength(1);
});

test('at the question about many rows, the page is written when the user wants to see it', async () => {
  const { PATH, opened, page } = await noting();
  const ids = Array.from({ length: 50_001 }, (_, index) => `${index + 1},u`);
  const { cwd, env, sandbox } = await newHome(`evaluation_id,user_id\n${ids.join('\n')}\n`);
  const child = startAtTerminal(['run', 'rows.csv', '--run-id', 'r'], { cwd, env: { ...env, PATH } });
  const ended = finished(child);
  for (let shown = ''; !shown.includes('Type 50001 to go on'); )
    shown += (await once(child.stdout as Readable, 'data'))[0];
  child.stdin?.write('p\n');
  expect(await opened()).toBe(join(cwd, '.cqbatch/runs/r/plan.html'));
  child.stdin?.write('n\n');
  expect(await ended).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('p and Enter show the plan as a page.'),
  });
  expect(await page()).toContain('50,001 calls will restore 50,001 evaluations.');
  expect(await sandbox.log()).toEqual([]);
});
