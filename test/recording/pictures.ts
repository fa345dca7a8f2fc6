import { readFile, rename, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { noOutcomes, type OutcomeCounts } from '../../src/domain/terms.ts';
import type { RunRecord } from '../../src/engine/run/record/record.ts';
import { openRunStore } from '../../src/engine/run/record/store.ts';
import { dashboardOf } from '../e2e/dashboard-place.ts';
import { newHome } from '../e2e/home.ts';
import { isReady } from '../e2e/report-rows.ts';
import { plannedRecord } from '../engine/run/planned-record.ts';
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
    const guards = [
      '--skip-invalid',
      '--allow-partial',
      '--max-failures',
      'none',
      '--attempts',
      '2',
      '--run-id',
      'week-47',
    ];
    const ended = await run('run', csv, '--yes', ...guards, '--rate', '40/s', '--reason', 'ticket 4711');
    expect(ended.code).toBe(1);
    for (const [name, path, height] of [
      ['report', join(await newestRunFolder(cwd), 'report.html'), 590],
      ['plan', join(cwd, 'plan.html'), 700],
    ] as const) {
      await showOthers(path, sandbox.url);
      const { page } = await open(String(pathToFileURL(path)), {
        viewport: { width, height },
        deviceScaleFactor: 1.5,
        colorScheme: 'light',
      });
      await page.waitForSelector(isReady);
      await takePicture(page, name);
    }
  });
});

const hour = 3_600_000;

/** Runs of the last day: their id, how many hours ago they started, how long they took, and what became of their rows. */
const earlier: readonly (readonly [string, number, number, Partial<OutcomeCounts>, Partial<RunRecord>])[] = [
  ['week-45', 22, 1.4, { succeeded: 1_200 }, {}],
  ['week-46', 15, 1.1, { succeeded: 1_188, failed: 12 }, {}],
  ['wrong-card', 9, 0.4, { succeeded: 277, failed: 38, not_attempted: 885 }, { state: 'halted' }],
  ['titles', 6, 0.6, { succeeded: 380 }, {}],
  ['week-47', 3, 1.2, { succeeded: 1_200 }, { unclear: 4 }],
];

const whyHalted =
  '38 of the first 310 rows failed. All with FAILED_PRECONDITION, for example row 1 (evaluation 200 is not deleted)';

async function saveEarlierRuns(stateDir: string, baseUrl: string): Promise<void> {
  const store = openRunStore(stateDir, operations);
  for (const [id, startedAgo, hours, counts, { state = 'completed', ...more }] of earlier) {
    const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * hour).toISOString();
    const rows = Object.values(counts).reduce((sum, each) => sum + each, 0);
    const end = { state, at: at(startedAgo - hours), ...(state === 'halted' && { reason: whyHalted }) };
    await store.create(id);
    await store.save({
      ...plannedRecord,
      ...more,
      id,
      state,
      states: [{ state: 'planned', at: at(startedAgo) }, { state: 'running', at: at(startedAgo) }, end],
      manifest: { ...plannedRecord.manifest, name: `${id}.csv` },
      plan: { ...plannedRecord.plan, rows, callable: rows },
      options: { ...plannedRecord.options, baseUrl },
      counts: { ...noOutcomes(), ...counts },
    });
  }
}

describeWithBrowser('pictures of the dashboard', (open) => {
  test('takes docs/images/dashboard.png and docs/images/dashboard-run.png', async () => {
    const flags = ['--evaluations', '4000', '--latency', '20ms..60ms', '--not-deleted', '0%'];
    const limit = ['--limit', 'token-bucket:rate=45,burst=5'];
    const home = await newHome(3_200, [...flags, ...limit], {});
    await saveEarlierRuns(home.stateDir, home.sandbox.url);
    await rename(join(home.cwd, 'rows.csv'), join(home.cwd, 'week-48.csv'));
    const guards = ['--max-failures', 'none', '--run-id', 'week-48', '--reason', 'ticket 4711'];
    home.start('run', 'week-48.csv', '--yes', ...guards);
    const { control_url } = await dashboardOf(home, '--control');
    const viewport = { width, height: 725 };
    const { page } = await open(control_url ?? '', {
      viewport,
      deviceScaleFactor: 1.5,
      colorScheme: 'light',
    });
    await page
      .locator('#card-week-48')
      .getByText(/^[12],[3-9]\d\d\/3,200/)
      .waitFor();
    await takePicture(page, 'dashboard');
    await page.getByRole('link', { name: 'week-48', exact: true }).click();
    await page.setViewportSize({ width, height: 865 });
    await page.locator('figure canvas').first().waitFor();
    // Not while it waits because the API has rejected calls.
    await page.locator('#trail .running').waitFor();
    await showOthersOn(page, home.sandbox.url);
    await takePicture(page, 'dashboard-run');
  });
});

/** Puts other names on a live page. The next news may put them back. */
async function showOthersOn(page: Page, api: string): Promise<void> {
  const names = [
    [`${userInfo().username} on ${hostname()}`, 'maria on ops-1'],
    [` on ${hostname()}`, ' on ops-1'],
    [api, 'https://quality.example.com'],
  ];
  await page.evaluate(
    `(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode())
        for (const [name, other] of ${JSON.stringify(names)})
          walker.currentNode.data = walker.currentNode.data.replaceAll(name, other);
    })()`,
  );
}

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
