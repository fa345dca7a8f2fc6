import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Snapshot } from '../../src/dashboard/page-data.ts';
import { describeWithBrowser, expectAccessible } from '../helpers/browser.ts';
import { cqbatch, startCqbatch } from '../helpers/cqbatch.ts';
import { eventsFrom } from '../helpers/event-stream.ts';
import { observe } from '../helpers/observed.ts';
import { describeWithRedis, redisForTest } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { restoreCsv } from './manifests.ts';
import { eventually, kindSandbox } from './redis/machine.ts';

/** A folder with a manifest, and an API that takes a tenth of a second for each row. */
async function newPlace(rows: number, more: Readonly<Record<string, string>> = {}, name = 'rows.csv') {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '100ms');
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, name), restoreCsv(rows).text);
  const options = { cwd, env: { ...sandbox.env, ...more } };
  const start = (...args: string[]) => observe(startCqbatch(args, options));
  const run = () => start('run', name, '--yes', '--run-id', 'r', '--concurrency', '4');
  return { sandbox, options, run, start };
}

interface Address {
  readonly url: string;
  readonly control_url: string | null;
}

/** The dashboard that a command serves. */
async function dashboardOf(
  place: { start(...args: string[]): ReturnType<typeof observe> },
  ...flags: string[]
) {
  const served = place.start('dashboard', '--port', '0', '--json', ...flags);
  await eventually(() => served.stdout.endsWith('\n'));
  return { served, ...(JSON.parse(served.stdout) as Address) };
}

const succeeded = ({ runs }: Snapshot) => runs[0]?.counts.succeeded ?? 0;

test('the dashboard follows a run of the state folder to its end, and ends in order', async () => {
  const place = await newPlace(100);
  const { served, url } = await dashboardOf(place);
  const events = await eventsFrom<Snapshot>(`${url}/events?run=r`);
  expect(await events.until(() => true)).toMatchObject({ runs: [], run: null, mayControl: false });
  const run = place.run();
  await events.until((data) => succeeded(data) > 0 && succeeded(data) < 100);
  const end = await events.until((data) => data.runs[0]?.ended === true);
  expect(end).toMatchObject({
    runs: [{ id: 'r', state: 'completed', counts: { succeeded: 100 } }],
    run: { codes: [{ outcome: 'succeeded', code: 'OK', count: 100 }], hasReport: true },
  });
  expect((await run.end).code).toBe(0);
  expect(await (await fetch(`${url}/runs/r/report.html`)).text()).toContain('<!doctype html>');
  served.kill('SIGTERM');
  expect((await served.end).code).toBe(0);
});

describeWithRedis('on Redis, the dashboard', () => {
  test('follows a run of another machine, and goes on when Redis was away', async () => {
    const redis = await redisForTest({ args: ['--appendonly', 'yes'] });
    const shared = { CQBATCH_QUEUE: redis.url };
    const place = await newPlace(200, shared);
    const elsewhere = await newPlace(0, shared);
    const { url } = await dashboardOf(elsewhere);
    const events = await eventsFrom<Snapshot>(`${url}/events?run=r`);
    const run = place.run();
    await events.until((data) => succeeded(data) > 0 && data.workers.length > 0);
    await redis.kill();
    const away = await events.until(({ datastore }) => datastore?.trouble !== undefined);
    expect(away.datastore?.trouble).toContain(redis.url);
    // What was known is shown still.
    expect(away.runs).toMatchObject([{ id: 'r', state: 'running', isElsewhere: true }]);
    await redis.restart();
    const back = await events.until(({ datastore }) => datastore?.trouble === undefined);
    expect(back.runs).toMatchObject([{ id: 'r' }]);
    const end = await events.until((data) => data.runs[0]?.ended === true);
    expect(end.runs).toMatchObject([{ state: 'completed', counts: { succeeded: 200 } }]);
    expect((await run.end).code).toBe(0);
  });
});

describeWithBrowser('in a browser, the dashboard', (open) => {
  test('shows hostile names as text, and cancels a run for who has the address for that', async () => {
    const name = '<img src=x onerror=alert(1)>.csv';
    const place = await newPlace(2_000, {}, name);
    const { url, control_url } = await dashboardOf(place, '--control');
    const run = place.run();
    const { page, complaints, requests } = await open(control_url ?? '', {
      viewport: { width: 380, height: 800 },
    });
    await page.getByText(name).waitFor();
    expect(page.url()).toBe(`${url}/`);
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
    await page.getByRole('link', { name: 'r', exact: true }).click();
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Cancel… run r' }).click();
    await page.getByRole('heading', { name: 'Cancel run r for good?' }).waitFor();
    expect((await cqbatch(['status', 'r', '--json'], place.options)).stdout).toContain('"running"');
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('heading', { name: 'Run r cancelled' }).waitFor();
    expect((await run.end).code).toBe(3);
    expect(complaints).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(`${url}/`))).toEqual([]);
  });
});
