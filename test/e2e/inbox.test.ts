import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { startCqbatch } from '../helpers/cqbatch.ts';
import { type Observed, observe } from '../helpers/observed.ts';
import { parsePrometheusText, sumsBy } from '../helpers/prometheus-text.ts';
import { type Cells, readCsv } from '../helpers/run-folder.ts';
import { expectAgreement } from './agreement.ts';
import { newHome } from './home.ts';

/** Restores of the evaluations from one number to another. */
function restores(from: number, to: number): string {
  const rows = Array.from({ length: to - from + 1 }, (_, index) => `${from + index},u\n`);
  return `evaluation_id,user_id\n${rows.join('')}`;
}

async function prepared(...sandboxOptions: string[]) {
  const home = await newHome(0, sandboxOptions, { CQBATCH_SETTLE: '1s' });
  const inbox = join(home.cwd, 'inbox');
  await mkdir(inbox);
  return {
    ...home,
    inbox,
    drop: (name: string, text: string) => writeFile(join(inbox, name), text),
    /** The same with a file that was written in that second of 2026. */
    async dropOld(second: number, name: string, text: string): Promise<void> {
      await writeFile(join(inbox, name), text);
      const at = Date.UTC(2026, 0, 1, 0, 0, second) / 1_000;
      await utimes(join(inbox, name), at, at);
    },
    /** What is in a folder of the inbox, hidden files left out. */
    async in(folder: string): Promise<readonly string[]> {
      const found = await readdir(join(inbox, folder), { withFileTypes: true });
      return found
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .sort();
    },
  };
}

/** The names by which manifests were dropped. */
function givenNames(names: readonly string[]): readonly string[] {
  return names
    .filter((name) => name.endsWith('.csv'))
    .map((name) => name.replace(/\.[0-9a-f]{8}\.csv$/, '.csv'));
}

test('two watchers that are killed again and again run each content once', async () => {
  const place = await prepared('--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '60ms');
  const { cwd, inbox, sandbox, drop, options } = place;
  const env = { ...options.env, ...anyDatastore(), CQBATCH_CONCURRENCY: '2' };
  const rows = 12;
  const names = ['a', 'b c', 'd 🎧', "e'f", 'g', 'h', 'i', 'j', 'k'].map((name) => `${name}.csv`);
  for (const [index, name] of names.entries())
    await drop(name, restores(index * rows + 1, (index + 1) * rows));
  await drop('copy of g.csv', await readFile(join(inbox, 'g.csv'), 'utf8'));
  await drop('invalid.csv', 'evaluation_id,user_id\nx,u\n');

  // With Redis each has a state folder of its own; without it they take turns.
  const folders = 'CQBATCH_QUEUE' in env ? ['one', 'two'] : ['one', 'one'];
  const start = (folder = ''): Observed =>
    observe(startCqbatch(['watch', 'inbox', '--yes', '--state-dir', folder, '-q'], { cwd, env }));
  const watchers = folders.map(start);
  for (const [kill, requests] of [3, 10, 25, 40, 60, 75, 90].entries()) {
    await sandbox.requested(requests);
    const index = kill % watchers.length;
    watchers[index]?.kill('SIGKILL');
    await watchers[index]?.end;
    watchers[index] = start(folders[index]);
  }
  const finished = async (): Promise<readonly string[]> => [
    ...givenNames(await place.in('done')),
    ...givenNames((await place.in('failed')).filter((name) => name.startsWith('invalid'))),
  ];
  const all = [...names, 'copy of g.csv', 'invalid.csv'];
  await expect.poll(async () => (await finished()).toSorted(), { interval: 500 }).toEqual(all.toSorted());
  for (const watcher of watchers) watcher.kill('SIGTERM');
  for (const watcher of watchers) expect(await watcher.end).toMatchObject({ code: 0 });

  for (const folder of ['.', 'running', 'partial']) expect(await place.in(folder)).toEqual([]);
  const runs = await Promise.all(
    [...new Set(folders)].map(async (folder) =>
      (await readdir(join(cwd, folder, 'runs'))).map((id) => join(cwd, folder, 'runs', id)),
    ),
  );
  const reports = await Promise.all(runs.flat().map((folder) => readCsv(folder, 'report.csv')));
  expect(reports).toHaveLength(names.length);
  const called: readonly Cells[] = reports.flat();
  const wanted = Array.from({ length: names.length * rows }, (_, index) => index + 1);
  const inOrder = (ids: readonly unknown[]) => ids.map(Number).toSorted((a, b) => a - b);
  expect(inOrder(called.map((row) => row['evaluation_id']))).toEqual(wanted);
  // Each was called once, but for those in flight in a kill, which say so.
  const log = await sandbox.log();
  expect(inOrder([...new Set(log.map(({ id }) => id))])).toEqual(wanted);
  expect(new Set(called.map((row) => row['_outcome']))).toEqual(new Set(['succeeded']));
  expectAgreement(called, log, { killed: true });
});

test('watch --once runs waiting manifests, moves them to their final folder, and resumes stopped runs', async () => {
  const place = await prepared('--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '20ms');
  const { inbox, sandbox, drop, dropOld, run, start } = place;
  const once = ['watch', 'inbox/*.csv', '--once', '--yes', '--user-id', 'u'];
  expect(await run('watch', 'inbox/*.csv', '--once')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Can't ask for confirmation"),
  });
  await drop('long.csv', restores(1, 100));
  const stopped = start(...once, '--rate', '20/s');
  await sandbox.requested(3);
  stopped.kill('SIGINT');
  expect(await stopped.end).toMatchObject({ code: 130 });
  expect(givenNames(await place.in('running'))).toEqual(['long.csv']);

  await dropOld(1, 'some.csv', 'evaluation_id\n101\n5000\n');
  await dropOld(2, 'none.csv', 'evaluation_id\n5001\n');
  await dropOld(3, 'invalid.csv', 'evaluation_id\n102\nx\n');
  const { code, stdout } = await run(...once, '--json', '--max-rows', '1000');
  const { manifests } = JSON.parse(stdout);
  const ended = (name: string, exit_code: number, folder: string) =>
    expect.objectContaining({ name, exit_code, path: expect.stringContaining(`inbox/${folder}/`) });
  expect({ code, manifests }).toEqual({
    code: 2,
    manifests: [
      ended('long.csv', 0, 'done'),
      ended('some.csv', 1, 'partial'),
      ended('none.csv', 1, 'failed'),
      ended('invalid.csv', 2, 'failed'),
    ],
  });
  const read = async (folder: string, start: string, end: string): Promise<string> => {
    const name = (await place.in(folder)).find((each) => each.startsWith(start) && each.endsWith(end));
    return readFile(join(inbox, folder, name ?? ''), 'utf8');
  };
  expect(await read('failed', 'invalid.', '.error.txt')).toMatch(
    /^inbox\/invalid\.csv:3: row 2, evaluation_id: must be a whole number .*\n.*\nNot ready: 1 row of inbox\/invalid\.csv is invalid/,
  );
  expect(await read('partial', 'some.', '.error.txt')).toMatch(
    /^inbox\/some\.csv ran as some-[0-9a-f]{8} against http.*: completed, 2 rows, 1 succeeded, 1 failed\.\n\nResults by code:\n {2}NOT_FOUND: 1 row, row 2: /,
  );

  // What failed is fed back when it is mended.
  const failed = await read('partial', 'some.', '.failed.csv');
  await drop('mended.csv', failed.replace('5000', '103'));
  expect(await run(...once)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/1 manifest: 1 done\.\n$/),
  });
  const log = await sandbox.log();
  expect(log.map(({ id }) => id).toSorted()).toEqual(
    [...Array.from({ length: 101 }, (_, index) => `${index + 1}`), '103', '5000', '5001'].toSorted(),
  );
});

test('a watcher answers probes and Prometheus, and reports each manifest as JSON', async () => {
  const { drop, options } = await prepared();
  await drop('a.csv', `${restores(1, 3)}5000,u\n`);
  const env = { ...options.env, ...anyDatastore() };
  const args = ['watch', 'inbox', '--yes', '--json', '--health-port', '0'];
  const watcher = observe(startCqbatch(args, { ...options, env }));
  await watcher.says('Watching inbox');
  const [, port] = /metrics are on port (\d+)/.exec(watcher.stderr) ?? [];
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  expect((await get('/readyz')).status).toBe(200);
  await watcher.says('a.csv → ');
  const page = parsePrometheusText(await (await get('/metrics')).text());
  expect(sumsBy(page, 'cqbatch_runs_total', 'result')).toMatchObject({ rows_failed: 1 });
  watcher.kill('SIGTERM');
  const { code, stdout } = await watcher.end;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ name: 'a.csv', exit_code: 1, result: { state: 'completed' } });
});
