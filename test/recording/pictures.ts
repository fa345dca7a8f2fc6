import { readFile, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newHome } from '../e2e/home.ts';
import { isReady } from '../e2e/report-rows.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { newestRunFolder } from '../helpers/run-folder.ts';
import { indexedPng } from './indexed-png.ts';

/** The width of pictures in pages of docs and the README, in pixels. They have twice as many, for sharp screens. */
const width = 830;

const manifest = [
  'operation,evaluation_id,user_id,soundboard_id,title,old_title',
  ...Array.from({ length: 1_200 }, (_, index) => {
    if (index % 60 === 7) return 'restore-evaluation,none,maria,,,';
    if (index % 3 !== 0) return `restore-evaluation,${index + 1},maria,,,`;
    const entry = index / 3 + 1;
    return `update-soundboard,,,${entry},Hold ${entry} (new),Hold ${entry}`;
  }),
];

describeWithBrowser('pictures', (open) => {
  test('takes docs/images/report.png and docs/images/plan.png', async () => {
    const flags = ['--evaluations', '2000', '--soundboards', '380', '--latency', '10ms..60ms'];
    const { cwd, run, write, sandbox } = await newHome(0, [...flags, '--fault', '503=3%,reset=1%']);
    const csv = 'week-47.csv';
    await write(csv, manifest.join('\n'));
    await run('plan', csv, '--skip-invalid', '--allow-partial', '--rate', '40/s', '--html', 'plan.html');
    const guards = ['--skip-invalid', '--allow-partial', '--max-failures', 'none', '--attempts', '2'];
    const ended = await run('run', csv, '--yes', ...guards, '--rate', '40/s', '--reason', 'ticket 4711');
    expect(ended.code).toBe(1);
    for (const [name, path, height] of [
      ['report', join(await newestRunFolder(cwd), 'report.html'), 1_200],
      ['plan', join(cwd, 'plan.html'), 700],
    ] as const) {
      await showOthers(path, sandbox.url);
      const { page } = await open(String(pathToFileURL(path)), {
        viewport: { width, height },
        deviceScaleFactor: 2,
        colorScheme: 'light',
      });
      await page.waitForSelector(isReady);
      await takePicture(page, name);
    }
  });
});

/** Puts other names in place of the person, the machine and the API. */
async function showOthers(path: string, api: string): Promise<void> {
  const html = await readFile(path, 'utf8');
  const person = `${userInfo().username} on ${hostname()}`;
  const shown = html.replaceAll(person, 'maria on ops-1').replaceAll(api, 'https://quality.example.com');
  await writeFile(path, shown);
}

/** Writes a picture of the part of a page that is on the screen, with a border, because what is around it is white, too. */
async function takePicture(page: Page, name: string): Promise<void> {
  const shot = await page.screenshot();
  const { rgba, ...size } = await page.evaluate<{ width: number; height: number; rgba: string }>(
    `(async () => {
      const bytes = Uint8Array.from(atob('${shot.toString('base64')}'), (sign) => sign.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      context.strokeStyle = '#c9d1d9';
      context.lineWidth = 4;
      context.strokeRect(0, 0, width, height);
      const { data } = context.getImageData(0, 0, width, height);
      let rgba = '';
      for (let at = 0; at < data.length; at += 30_000) rgba += String.fromCharCode(...data.subarray(at, at + 30_000));
      return { width, height, rgba: btoa(rgba) };
    })()`,
  );
  await writeFile(`docs/images/${name}.png`, indexedPng({ ...size, rgba: Buffer.from(rgba, 'base64') }));
}
