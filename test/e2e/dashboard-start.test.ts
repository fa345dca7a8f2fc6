import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Draft } from '../../src/pages/server/start/draft.ts';
import { expectAgreement } from './agreement.ts';
import { startingDashboardOf } from './dashboard-place.ts';
import { type Home, newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';
import { eventually, kindSandbox, textsBelow } from './redis/machine.ts';
import { calledIds, changingCalls, entries, renamedCsv, withChanges } from './soundboards.ts';

const embedded = {};

const isOver = async (home: Home, run: string, state = 'completed') =>
  eventually(async () => (await home.stateOf(run)) === state);

interface StoredRun {
  readonly states: readonly { readonly state: string; readonly reason?: string; readonly by?: object }[];
  readonly manifest: { readonly name: string; readonly sha256: string };
}

const recordOf = async (home: Home, run: string): Promise<StoredRun> =>
  JSON.parse(await readFile(join(home.folder(run), 'run.json'), 'utf8'));

const runsOf = async (home: Home) => readdir(join(home.stateDir, 'runs')).catch(() => []);

test('a file that is dropped is planned, started and carried out, as in a terminal', async () => {
  const home = await newHome(0, ['--soundboards', '30'], embedded);
  const before = entries(home.sandbox);
  const page = await startingDashboardOf(home);
  expect(await page.ask('start.json')).toMatchObject({ baseUrl: home.sandbox.url });
  const draft = await page.upload('titles.csv', renamedCsv(20));
  const { planned } = await page.plan(draft, { compare: true });
  expect(planned).toMatchObject({ ready: true, callable: 20 });
  expect(await changingCalls(home.sandbox)).toEqual([]);
  const { run = '' } = await page.start({ ...draft, ...(planned && { planned }) }, { reason: 'new names' });
  await isOver(home, run);
  const changes = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [at + 1, { title: `New ${at + 1}` }]),
  );
  expect(entries(home.sandbox)).toEqual(withChanges(before, changes));
  const { states, manifest } = await recordOf(home, run);
  expect(manifest.name).toBe('titles.csv');
  expect(states[0]).toMatchObject({
    by: { user: expect.any(String) },
    reason: 'new names (on the dashboard)',
  });
  // A dashboard that is stopped stops its daemon, too.
  page.served.kill('SIGTERM');
  expect((await page.served.end).code).toBe(0);
  expect(await textsBelow(home.stateDir)).not.toContain(home.sandbox.token);
});

describe('a dashboard that is killed', () => {
  type Page = Awaited<ReturnType<typeof startingDashboardOf>>;

  const steps: Readonly<Record<string, (page: Page, draft: Draft) => Promise<unknown>>> = {
    'after the file': async () => {},
    'while it plans': async (page, draft) => void page.plan(draft).catch(() => {}),
    'after the plan': (page, draft) => page.plan(draft),
    'while it starts': async (page, draft) => {
      const planned = await page.plan(draft);
      void page.start(planned).catch(() => {});
    },
    'after the start': async (page, draft) => page.start(await page.plan(draft)),
    'while it runs': async (page, draft) => {
      const { run = '' } = await page.start(await page.plan(draft));
      await eventually(
        async () =>
          (await page.ask<{ readonly facts: { readonly done: number } }>(`runs/${run}/report.json`)).facts
            .done > 20,
      );
    },
  };

  test.each(Object.keys(steps))('%s goes on with what was prepared, and starts one run', async (step) => {
    const home = await newHome(0, [...kindSandbox, '--latency', '20ms'], embedded);
    const page = await startingDashboardOf(home, '--rate', '200/s');
    const draft = await page.upload('rows.csv', restoreCsv(300).text);
    await steps[step]?.(page, draft);
    page.served.kill('SIGKILL');
    await page.served.end;

    const again = await startingDashboardOf(home);
    let now = await again.ask(`drafts/${draft.id}`);
    if (now.planned === undefined && now.run === undefined) now = await again.plan(now);
    if (now.run === undefined) now = await again.start(now);
    const { run = '' } = now;
    await isOver(home, run);
    expect(await runsOf(home)).toEqual([run]);
    expectAgreement(await home.report(run), await changingCalls(home.sandbox), { killed: true });
    // Each row was called at least once; a second call only where the kill hid the answer of the first.
    expect(new Set(await calledIds(home.sandbox)).size).toBe(300);
  });
});

test('a start that the draft does not note, as after a full disk, is found, and its rows are not planned again', async () => {
  const home = await newHome(0, kindSandbox, embedded);
  const page = await startingDashboardOf(home);
  const planned = await page.plan(await page.upload('Week 47.csv', restoreCsv(20).text));
  const folder = join(home.stateDir, 'drafts', planned.id);
  const unnoted = await Promise.all(
    (await readdir(folder)).map(
      async (name) => [join(folder, name), await readFile(join(folder, name))] as const,
    ),
  );
  const { run = '' } = await page.start(planned);
  await isOver(home, run);
  for (const [path, content] of unnoted) await writeFile(path, content);
  expect(await page.plan(planned, { userId: 'other' })).toMatchObject({ run });
  expect(await page.start(planned)).toMatchObject({ run });
  expect(await runsOf(home)).toEqual([run]);
  expect(await changingCalls(home.sandbox)).toHaveLength(20);
});

test('a file that is sent twice gives two plans, and one that is started twice one run', async () => {
  const home = await newHome(0, kindSandbox, embedded);
  const page = await startingDashboardOf(home);
  const [one, other] = [
    await page.plan(await page.upload('rows.csv', restoreCsv(20).text)),
    await page.plan(await page.upload('rows.csv', restoreCsv(20).text)),
  ];
  expect(one.id).not.toBe(other.id);
  const started = await Promise.all([page.start(one), page.start(one), page.start(one)]);
  expect(new Set(started.map(({ run }) => run)).size).toBe(1);
  const { run = '' } = started[0];
  await isOver(home, run);
  expect(await runsOf(home)).toEqual([run]);
  expect(await changingCalls(home.sandbox)).toHaveLength(20);
});

describe('what a person has seen is what is started', () => {
  test('another manifest in its place is refused', async () => {
    const home = await newHome(0, kindSandbox, embedded);
    const page = await startingDashboardOf(home);
    const draft = await page.upload('rows.csv', restoreCsv(20).text);
    await writeFile(join(home.stateDir, 'drafts', draft.id, 'manifest'), restoreCsv(20, 100).text);
    const { refusal, planned } = await page.plan(draft);
    expect([planned, refusal?.message]).toEqual([
      undefined,
      expect.stringMatching(/was replaced after it was received/),
    ]);
    expect(await runsOf(home)).toEqual([]);
  });

  test('another plan in its place is refused', async () => {
    const home = await newHome(0, kindSandbox, embedded);
    const page = await startingDashboardOf(home);
    const seen = await page.plan(await page.upload('rows.csv', restoreCsv(20).text));
    const other = await page.plan(await page.upload('rows.csv', restoreCsv(20, 100).text));
    const pathOf = ({ id }: Draft) => join(home.stateDir, 'drafts', id, 'rows.cqplan');
    await writeFile(pathOf(seen), await readFile(pathOf(other)));
    const { status, text } = await page.request(`drafts/${seen.id}/start`, {
      confirm: 20,
      sha256: seen.planned?.plan_sha256,
    });
    expect([status, text]).toEqual([400, expect.stringMatching(/plan/)]);
    expect(await runsOf(home)).toEqual([]);
    expect(await changingCalls(home.sandbox)).toEqual([]);
  });

  test('a plan that was made again in another tab is not started with what the first tab shows', async () => {
    const home = await newHome(0, kindSandbox, embedded);
    const page = await startingDashboardOf(home);
    const text = `evaluation_id\n1\n2\n`;
    const draft = await page.upload('rows.csv', text);
    const seen = await page.plan(draft, { userId: 'u1' });
    expect((await page.plan(draft, { userId: 'u2' })).planned).toMatchObject({ ready: true });
    await expect(page.start(seen)).rejects.toThrow('was made again');
  });
});

test.each([
  ['an image', '\u0089PNG\r\n\u001a\n\u0000\u0000', /./],
  ['nothing', '', /empty/],
  ['columns that no operation has', 'colour,size\nred,1\n', /column/],
])('%s is refused with the reason of `cqbatch plan`, and nothing is sent', async (_, text, reason) => {
  const home = await newHome(0, kindSandbox, embedded);
  const page = await startingDashboardOf(home);
  const { refusal, planned } = await page.plan(await page.upload('rows.csv', text));
  expect(planned?.plan_sha256).toBeUndefined();
  expect(refusal?.message ?? '').toMatch(reason);
  await home.write('rows.csv', text);
  const { stderr } = await home.run('plan', 'rows.csv');
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
    (refusal?.message ?? '').replaceAll(/\s+/g, ' ').slice(0, 40),
  );
  expect(await home.sandbox.log()).toEqual([]);
});

test('without a token, no run could be carried out: the dashboard does not start', async () => {
  const home = await newHome(0, kindSandbox, { ...embedded, CQBATCH_TOKEN_FILE: '' });
  const { code, stderr } = await home.run('dashboard', '--port', '0', '--control', '--start');
  expect(code).toBe(2);
  expect(stderr).toMatch(/token/i);
});
