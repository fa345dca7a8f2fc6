import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type ApiClient,
  type BatchEvent,
  type BatchOptions,
  type BatchRow,
  createClient,
  type Operation,
  openRuns,
  operations,
  planBatch,
  results,
  runBatch,
} from '../../src/index.ts';
import { mixedCsv, restoreCsv } from '../e2e/manifests.ts';
import { kindSandbox } from '../e2e/redis/machine.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { sandboxToken, startSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A manifest in its own folder, a service, and a program's options for both. */
async function begin(text: string, ...flags: string[]) {
  const folder = await temporaryFolder();
  const manifest = join(folder, 'rows.csv');
  await writeFile(manifest, text);
  const sandbox = await startSandbox(...kindSandbox, '--soundboards', '1000', ...flags);
  const client = createClient({ baseUrl: sandbox.url, token: sandboxToken, connections: 50 });
  onTestFinished(() => client.close());
  return { sandbox, batch: { manifest, operations, client, stateDir: join(folder, 'state') } };
}

async function all<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** The rows that the service has received, by their subjects. */
async function called(sandbox: TestSandbox): Promise<readonly string[]> {
  return (await sandbox.log()).map(({ operation, id }) => `${operation} ${id}`).sort();
}

const key = ({ operation, subject }: BatchRow): string => `${operation} ${subject}`;

test('a plan counts every row, names what is wrong, and sends nothing', async () => {
  const { sandbox, batch } = await begin('evaluation_id,user_id\n1,u1\nx,u2\n1,u1\n2,u3\n');
  const plan = await planBatch(batch);
  const counts = { rows: 4, callable: 2, invalid: 1, duplicates: 1, leftOut: 0 };
  // In words of programs, not of the command.
  const message = expect.stringMatching(/rows\.csv is invalid; fix it or pass skipInvalid: true\.$/);
  expect(plan).toMatchObject({ ...counts, refusal: { code: 'INVALID_ROWS', message } });
  expect(plan.problems).toEqual([expect.stringMatching(/rows\.csv:3: row 2, evaluation_id: /)]);
  expect(await planBatch({ ...batch, skipInvalid: true })).not.toHaveProperty('refusal');
  expect(await sandbox.log()).toEqual([]);
});

test('a batch that compares shows what changes, sends whole entries, and leaves out what changes nothing', async () => {
  const { sandbox, batch } = await begin('soundboard_id,title\n1,Recording 1\n2,Other\n');
  const settings = { compare: true };
  const { client, ...blind } = batch;
  await expect(planBatch({ ...blind, settings })).rejects.toThrow(/^client is missing: pass the one of/);
  const change = { row: 2, field: 'title', old: 'Recording 2', new: 'Other', subject: '2' };
  expect(await planBatch({ ...blind, client, settings })).toMatchObject({
    callable: 1,
    asWanted: 1,
    partial: 0,
    changes: [change],
  });
  const { summary } = await runBatch({
    ...batch,
    settings: { ...settings, ...anyQueue() },
    runId: 'compared',
  });
  expect(summary.outcomes).toMatchObject({ succeeded: 1, skipped: 1 });
  const updates = (await sandbox.log()).filter(({ operation }) => operation === 'update-soundboard');
  expect(updates).toHaveLength(1);
  expect(sandbox.soundboard(2)).toMatchObject({ title: 'Other', file_name: 'recording-2.wav' });
});

test('a plan accepts settings as in config.json, and refuses those that do not apply', async () => {
  const { batch } = await begin('evaluation_id,user_id\n1,u1\n2,u2\n');
  expect(await planBatch({ ...batch, settings: { where: ['user_id=u1'] } })).toMatchObject({
    callable: 1,
    leftOut: 1,
  });
  for (const [settings, message] of [
    [{ canary: 'many' }, /^settings: canary "many": /],
    [{ base_url: 'https://x.test' }, 'base_url is not allowed here: the client has the base URL.'],
    [{ notify_url: 'https://x.test' }, 'notify_url is not allowed here: only commands use it.'],
    [{ max_failure: 3 }, 'settings: unknown key "max_failure"'],
  ] as const)
    await expect(planBatch({ ...batch, settings: settings as object })).rejects.toThrow(message);
  // @ts-expect-error There is no such key.
  const misspelled: BatchOptions['settings'] = { max_failure: 3 };
  // @ts-expect-error There is no such value.
  const unknown: BatchOptions['settings'] = { on_conflict: 'first' };
  expect([misspelled, unknown]).toBeDefined();
});

test('what a program leaves out is a usage error that says what to pass', async () => {
  const { batch } = await begin('evaluation_id,user_id\n1,u1\n');
  const none = {} as never;
  for (const [work, message] of [
    [async () => createClient(none), 'The base URL is missing: pass one'],
    [
      async () => createClient({ baseUrl: 'https://x.test' } as never),
      'The access token is missing: pass a text',
    ],
    [() => planBatch({ ...batch, operations: undefined as never }), 'operations is missing: pass those'],
    [() => planBatch({ ...batch, manifest: undefined as never }), 'manifest is missing: pass the path'],
    [() => runBatch({ ...batch, client: none }), 'client is missing: pass what createClient makes.'],
    [() => runBatch({ ...batch, operations: undefined as never }), 'operations is missing: pass those'],
  ] as const) {
    const missing = { kind: 'usage', message: expect.stringContaining(message) };
    await expect(work()).rejects.toMatchObject(missing);
  }
});

/** For a batch on any datastore. */
function anyQueue() {
  const { CQBATCH_QUEUE: queue, CQBATCH_QUEUE_PREFIX: queue_prefix } = anyDatastore();
  return { ...(queue && { queue }), ...(queue_prefix && { queue_prefix }) };
}

test('a batch calls each row once, reports events, and returns the result of each', async () => {
  const { sandbox, batch } = await begin(mixedCsv(300).text, '--fault', '500=2%');
  const events: BatchEvent[] = [];
  const ended = await runBatch({
    ...batch,
    settings: { allow_partial: 'yes', max_failures: 'none' },
    runId: 'mixed',
    onEvent: (event) => events.push(event),
  });
  expect(ended).toMatchObject({ run: 'mixed', result: 'rows_failed', summary: { state: 'completed' } });
  await access(ended.files.report);

  const rows = await all(results({ ...batch, run: 'mixed' }));
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 300 }, (_each, index) => index + 1));
  const counted = (outcome: string) => rows.filter((row) => row.outcome === outcome).length;
  expect(ended.summary.outcomes).toMatchObject({ succeeded: counted('succeeded'), duplicate: 3 });
  // Three were unknown, and so have failed; each attempt is in the log of the service.
  expect(rows.filter(({ code }) => code === 'NOT_FOUND')).toHaveLength(3);
  const attempts = rows.flatMap((row) => Array.from({ length: row.attempts }, () => key(row))).sort();
  expect(await called(sandbox)).toEqual(attempts);
  expect(events[0]).toMatchObject({ type: 'planned', run: 'mixed', plan: { callable: 297 } });
  expect(events.filter(({ type }) => type === 'finished')).toHaveLength(297);
  expect(await openRuns(batch)).toEqual([]);
});

test('a batch that was stopped is open, and is resumed by its name: no row is called twice', async () => {
  const { sandbox, batch } = await begin(restoreCsv(200).text, '--latency', '20ms');
  const stop = new AbortController();
  const wanted = {
    ...batch,
    settings: { ...anyQueue(), concurrency: 4 },
    runId: 'nightly',
    orResume: true,
  };
  const stopped = await runBatch({
    ...wanted,
    signal: stop.signal,
    onEvent: ({ type }) => type === 'finished' && stop.abort(),
  });
  expect(stopped.result).toBe('interrupted');
  expect(await openRuns(batch)).toMatchObject([{ run: 'nightly', state: 'interrupted', rows: 200 }]);
  expect(await runBatch(wanted)).toMatchObject({ result: 'succeeded', summary: { unclear: 0 } });
  expect(await called(sandbox)).toEqual((await all(results({ ...batch, run: 'nightly' }))).map(key).sort());
});

test('rows that must not be called are refused with a code, and no run remains', async () => {
  const { sandbox, batch } = await begin('evaluation_id,user_id\n1,u1\nx,u2\n');
  await expect(runBatch(batch)).rejects.toMatchObject({
    kind: 'usage',
    code: 'INVALID_ROWS',
    message: expect.stringMatching(/Nothing was sent\.\n.*rows\.csv:3: row 2, evaluation_id: /),
  });
  expect(await openRuns(batch)).toEqual([]);
  expect(await sandbox.log()).toEqual([]);
});

test('a batch that a guard has halted is not resumed by its name', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => `${9_000_000_000_000_000_000n + BigInt(index)},u`);
  const { sandbox, batch } = await begin(`evaluation_id,user_id\n${rows.join('\n')}\n`);
  const wanted = {
    ...batch,
    runId: 'wrong',
    orResume: true,
    settings: { ...anyQueue(), max_failures: 3, concurrency: 1 },
  };
  const halted = await runBatch(wanted);
  expect(halted).toMatchObject({
    result: 'halted',
    reason: expect.stringContaining('more than the limit of 3 (settings.max_failures)'),
  });
  const calls = await called(sandbox);
  expect(await runBatch(wanted)).toMatchObject({ result: 'halted', reason: halted.reason });
  expect(await called(sandbox)).toEqual(calls);
  // The page is read outside of the program, which alone knows its folder.
  const page = await readFile(join(batch.stateDir, 'runs', 'wrong', 'report.html'), 'utf8');
  expect(page).toContain(`cqbatch resume --state-dir ${batch.stateDir} wrong`);
  expect(page).not.toContain('cqbatch resume wrong');
});

describe('code of a program that throws breaks no run:', () => {
  const thrown = () => {
    throw new Error('why');
  };
  const late = async () => thrown();
  const log = { error: thrown, warn: thrown, info: thrown, debug: thrown, isLevelEnabled: thrown };
  const done = { outcome: 'succeeded', code: 'OK', unclear: false, attempts: 1 };
  test.each<[string, object, object]>([
    ['onEvent', { onEvent: thrown }, done],
    ['an async onEvent', { onEvent: late }, done],
    ['a log', { log }, done],
  ])('%s', async (_title, own, result) => {
    const { sandbox, batch } = await begin(restoreCsv(10).text);
    const ended = await runBatch({ ...batch, ...own, runId: 'own', settings: { max_failures: 'none' } });
    expect(ended.summary.state).toBe('completed');
    const rows = await all(results({ ...batch, run: 'own' }));
    expect(rows).toHaveLength(10);
    for (const row of rows) expect(row).toMatchObject(result);
    expect(await called(sandbox)).toEqual(rows.map(key).sort());
  });

  test('an operation at each answer, so that five calls are made, and all are unclear', async () => {
    const { sandbox, batch } = await begin(restoreCsv(10).text);
    const broken = operations.map((operation): Operation => ({ ...operation, check: thrown }));
    const ended = await runBatch({
      ...batch,
      operations: broken,
      runId: 'own',
      settings: { max_failures: 'none' },
    });
    expect(ended).toMatchObject({ result: 'failed', reason: expect.stringContaining('why') });
    const rows = await all(results({ ...batch, run: 'own' }));
    const unclear = rows.filter((row) => row.unclear);
    expect(unclear).toHaveLength(5);
    expect(await called(sandbox)).toEqual(unclear.map(key).sort());
    for (const { outcome, unclear, attempts } of rows)
      expect([outcome, attempts]).toEqual(unclear ? ['failed', 1] : ['not_attempted', 0]);
  });

  test('a client that throws, which may have sent its request', async () => {
    const { sandbox, batch } = await begin(restoreCsv(10).text);
    let sent = 0;
    const client: ApiClient = {
      ...batch.client,
      async send(...call) {
        const answer = await batch.client.send(...call);
        sent += 1;
        if (sent % 3 === 0) throw new Error('why');
        return answer;
      },
    };
    const ended = await runBatch({ ...batch, client, runId: 'own', settings: { max_failures: 'none' } });
    expect(ended).toMatchObject({ summary: { state: 'completed', outcomes: { succeeded: 10 } } });
    const rows = await all(results({ ...batch, run: 'own' }));
    const attempts = rows.flatMap((row) => Array.from({ length: row.attempts }, () => key(row)));
    expect(await called(sandbox)).toEqual(attempts.sort());
    for (const { attempts: calls, unclear } of rows) expect(unclear).toBe(calls > 1);
  });
});

test('a name stands for one manifest and one API', async () => {
  const { batch } = await begin('evaluation_id,user_id\n1,u1\n');
  const wanted = { ...batch, runId: 'one', orResume: true, settings: anyQueue() };
  await runBatch(wanted);
  await writeFile(batch.manifest, 'evaluation_id,user_id\n2,u1\n');
  await expect(runBatch(wanted)).rejects.toMatchObject({ code: 'RUN_EXISTS' });
  const client = createClient({ baseUrl: 'https://other.test', token: sandboxToken });
  onTestFinished(() => client.close());
  await expect(runBatch({ ...wanted, client })).rejects.toMatchObject({ code: 'OTHER_API' });
});

test('a batch that cannot begin leaves nothing behind: its name is free', async () => {
  const { sandbox, batch } = await begin(restoreCsv(3).text);
  const held = sandbox.hold();
  const second = { ...batch, runId: 'second', orResume: true };
  let refused: Promise<unknown> = Promise.resolve();
  await runBatch({
    ...batch,
    runId: 'first',
    // The embedded datastore serves one run at a time.
    onEvent: ({ type }) => {
      if (type === 'planned')
        refused = sandbox
          .requested(1)
          .then(() => runBatch(second).catch((error) => error))
          .finally(held.release);
    },
  });
  expect(await refused).toMatchObject({ kind: 'busy' });
  expect(await openRuns(batch)).toEqual([]);
  expect(await runBatch(second)).toMatchObject({ result: 'rows_failed' });
});
