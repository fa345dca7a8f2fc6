import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { newHome } from './home.ts';
import { isReady } from './report-rows.ts';
import { editElsewhere } from './soundboards.ts';

/** Row 1 changes a title, row 2 a title and a text, row 3 empties a text, row 4 changes nothing, row 5 has no entry. */
const titles = [
  'soundboard_id,Title,description,old_title',
  '1,Greeting,,Recording 1',
  '2,<b>Two</b>,A text of its own,',
  '3,,<clear>,',
  '4,Recording 4,,',
  '999,Greeting,,',
  '',
].join('\n');

describeWithBrowser('the details of a row of a compared run', (open) => {
  test('say the old and the new value of each field that changes, and no value twice', async () => {
    const home = await newHome(titles, ['--soundboards', '10']);
    for (const id of [2, 3]) await editElsewhere(home.sandbox, id, { description: `Text ${id}` });
    const ended = await home.run(
      ...['run', 'rows.csv', '--compare', '--skip-invalid', '--yes', '--run-id', 'r'],
    );
    expect(ended.code).toBe(1);
    const url = String(pathToFileURL(join(home.folder('r'), 'report.html')));
    const { page, complaints } = await open(`${url}#show=all&row=1`);
    await page.waitForSelector(isReady);
    const story = page.locator('dialog');
    const shown = async () => {
      const [names, values] = [story.locator('.changes dt'), story.locator('.changes dd')];
      const texts = await values.allTextContents();
      return Object.fromEntries((await names.allTextContents()).map((name, at) => [name, texts[at]]));
    };
    const next = page.getByRole('button', { name: 'Next' });
    expect(await shown()).toEqual({ Title: 'old: Recording 1 → , new: Greeting' });
    const manifest = () => story.locator('dl').last().locator('dt').allTextContents();
    expect((await manifest()).map((name) => name.trim())).not.toContain('Title');
    expect((await manifest()).map((name) => name.trim())).not.toContain('old_title');
    await next.click();
    expect(await shown()).toEqual({
      Title: 'old: Recording 2 → , new: <b>Two</b>',
      description: 'old: Text 2 → , new: A text of its own',
    });
    await expectAccessible(page);
    await next.click();
    expect(await shown()).toEqual({ description: 'old: Text 3 → , new: (cleared)' });
    await next.click();
    expect(await page.locator('#story-title').textContent()).toContain('Row 4 ·');
    expect(await shown()).toEqual({});
    // Without an entry, nothing is known of old values.
    await next.click();
    expect(await shown()).toEqual({ Title: 'old: ? → , new: Greeting' });
    expect(complaints).toEqual([]);
  });
});
