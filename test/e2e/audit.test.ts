import { readdir, readFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { sandboxToken } from '../helpers/sandbox.ts';
import { newHome } from './home.ts';
import { eventually, kindSandbox } from './redis/machine.ts';

interface Story {
  readonly runs: readonly {
    readonly attempts: readonly {
      readonly at: string | null;
      readonly http_status: number | null;
      readonly code: string | null;
      readonly duration_ms: number | null;
    }[];
  }[];
}

interface Answers {
  readonly runs: readonly { readonly responses: readonly { readonly status: number }[] }[];
}

/** Minutes for all rows: the run is still going when all of it has been told, however slow the machine is. */
const rate = ['--rate', '5/s', '--concurrency', '4'];

async function newScene(rows: number, datastore: Readonly<Record<string, string>>, ...flags: string[]) {
  const env = { ...datastore, CQBATCH_BACKOFF: '20ms' };
  const home = await newHome(rows, [...kindSandbox, ...flags], env);
  return { home, sandbox: home.sandbox };
}

test('a run on the embedded datastore records each action with user, time and reason', async () => {
  const { home, sandbox } = await newScene(1_000, {}, '--latency', '5ms');
  const begin = ['run', 'rows.csv', '--yes', '--run-id', 'r', ...rate];
  const first = home.start(...begin, '--reason', 'week 47 \u001b[31m is lost');
  await sandbox.requested(10);
  expect(await home.run('pause', 'r', '--reason', 'the API is slow')).toMatchObject({ code: 0 });
  expect(await home.run('unpause', 'r')).toMatchObject({ code: 0 });
  first.kill('SIGINT');
  expect((await first.end).code).toBe(130);
  const second = home.start('resume', 'r', '--reason', 'it is quick again');
  await eventually(async () => (await home.stateOf('r')) === 'running');
  expect(await home.run('cancel', 'r', '--yes', '--reason', 'wrong column')).toMatchObject({ code: 0 });
  expect((await second.end).code).toBe(3);

  const by = { user: userInfo().username, host: hostname(), version: expect.any(String) };
  expect(await home.json('show', 'r')).toMatchObject({
    state: 'cancelled',
    by,
    reason: 'week 47 \u001b[31m is lost',
    events: [
      { event: 'planned', by, reason: 'week 47 \u001b[31m is lost' },
      { event: 'begun', by, reason: null, duration_s: expect.any(Number) },
      { event: 'paused', by, reason: 'the API is slow' },
      { event: 'unpaused', by, reason: null },
      { event: 'interrupted', by: null },
      { event: 'resumed', by, reason: 'it is quick again' },
      { event: 'cancelled', by, reason: 'wrong column' },
    ],
  });
});

test('a run keeps every answer as sent, even after its process was killed', async () => {
  const { home, sandbox } = await newScene(
    120,
    anyDatastore(),
    '--latency',
    '30ms',
    '--fault',
    '503=10%,reset=5%',
  );
  const paced = ['--concurrency', '4', '--rate', '40/s'];
  const saving = ['--save-responses', '--max-failures', 'none'];
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', ...paced, ...saving);
  await sandbox.requested(60);
  run.kill('SIGKILL');
  await run.end;
  sandbox.configure({ latency: '0ms' });
  expect(await home.run('resume', 'r', '--rate', 'none')).toMatchObject({ code: 0 });

  const files = (await readdir(home.folder('r'))).filter((name) => name.startsWith('responses-'));
  expect(files.toSorted()).toEqual(['responses-1.jsonl.gz', 'responses-2.jsonl.gz']);
  const saved: { row: number; at: string; status: number; body: string }[] = [];
  for (const name of files) {
    const text = gunzipSync(await readFile(join(home.folder('r'), name))).toString();
    for (const line of text.trimEnd().split('\n')) saved.push(JSON.parse(line));
    expect(text).not.toContain(sandboxToken);
  }
  const kept = new Map(saved.map((answer) => [`${answer.row} ${answer.at}`, answer]));
  const answered = (await sandbox.log()).filter(({ status }) => status !== null);
  const of = (id: number) => [...kept.values()].filter(({ row }) => row === id);
  const seen = (id: number) => answered.filter((entry) => entry.id === String(id));
  const statuses = (answers: readonly { status: number | null }[]) => answers.map(({ status }) => status);
  const rows = Array.from({ length: 120 }, (_, index) => index + 1);
  // What had been answered to a process when it died, it may not have told any more: at most its calls in flight, and as
  // many that were being written.
  const missing = rows.filter((row) => of(row).length < seen(row).length);
  expect(missing.length).toBeLessThanOrEqual(2 * 4);
  for (const row of rows.filter((one) => !missing.includes(one))) {
    expect(statuses(of(row)).toSorted()).toEqual(statuses(seen(row)).toSorted());
    const done = of(row).filter(({ status }) => status === 200);
    expect(done.filter(({ body }) => !body.includes(`"evaluation_id":${row},`))).toEqual([]);
  }
  // One that was called again and then succeeded.
  const hasSucceeded = (one: number) => of(one).some(({ status }) => status === 200);
  const [row] = rows.filter((one) => of(one).length > 1 && hasSucceeded(one) && !missing.includes(one));
  if (row === undefined) throw new TypeError('No row was called again and then succeeded.');
  const { runs } = await home.json<Answers>('show', 'r', '--row', String(row));
  expect(statuses(runs[0]?.responses ?? [])).toEqual(statuses(seen(row)));
});

test('a run records every attempt of a row as the sandbox saw it, even in a retry', async () => {
  const { home, sandbox } = await newScene(
    60,
    anyDatastore(),
    '--fault',
    '503=25%,reset=10%,500-after-commit=8%',
  );
  const quickly = ['--yes', '--attempts', '3'];
  await home.run('run', 'rows.csv', '--run-id', 'r', ...quickly);
  sandbox.configure({ fault: 'none' });
  await home.run('retry', 'r', '--run-id', 'again', ...quickly);
  const log = await sandbox.log();
  const report = await home.report('r');
  const interesting = report.filter((row) => Number(row['_attempts']) > 1 || row['_outcome'] !== 'succeeded');
  expect(interesting.length).toBeGreaterThan(3);
  for (const { _row: row = '', evaluation_id: id } of interesting.slice(0, 8)) {
    const { runs } = await home.json<Story>('show', 'r', '--row', row);
    const attempts = runs.flatMap((run) => run.attempts);
    const seen = log.filter((entry) => entry.id === id);
    expect(attempts.map((attempt) => attempt.http_status)).toEqual(seen.map(({ status }) => status));
    expect(
      attempts.filter(({ at, duration_ms: ms, code }) => at === null || ms === null || code === null),
    ).toEqual([]);
    const again = await home.json<Story>('show', 'again', '--row', row);
    if (runs.length > 1) expect(again).toEqual({ ...again, runs });
  }
});
