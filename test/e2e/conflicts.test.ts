import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type Edits, editsCsv, expectInOrder } from './edits.ts';

async function prepared(text: string, ...sandboxArgs: string[]) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), text);
  const sandbox = await startSandbox(...sandboxArgs);
  const env = { ...sandbox.env, ...anyDatastore(), CQBATCH_BACKOFF: '20ms' };
  const run = (...args: string[]) => cqbatch(args, { cwd, env });
  return { cwd, sandbox, run };
}

const titles = (log: readonly { readonly body?: string }[]) =>
  log.map(({ body = '' }) => JSON.parse(body).soundboard.title as string);

describe('rows that change one entry in different ways', () => {
  const text = 'soundboard_id,title\n41,x\n41,y\n42,z\nnone,z\n41,x\n';

  test('are refused with both lines, and --skip-invalid does not decide between them', async () => {
    const { cwd, run, sandbox } = await prepared(text);
    const commands = [['plan'], ['run', '--yes'], ['submit', '--yes']];
    for (const [command = '', ...args] of commands) {
      const { code, stdout, stderr } = await run(command, 'rows.csv', '--skip-invalid', ...args);
      expect({ code, stderr }).toMatchObject({ code: 2 });
      expect(stdout + stderr).toContain(
        'rows.csv:3: conflicts with line 2: different values for soundboard 41\n',
      );
      expect(stdout + stderr).toContain('Not ready: 1 row of rows.csv conflicts with an earlier row');
      for (const rule of ['last', 'in-order']) expect(stdout + stderr).toContain(`--on-conflict ${rule} (`);
    }
    const { error, plan } = JSON.parse(
      (await run('run', 'rows.csv', '--yes', '--skip-invalid', '--json')).stdout,
    );
    expect(error.code).toBe('CONFLICTING_ROWS');
    expect(plan).toMatchObject({ conflicts: 1, on_conflict: 'refuse', ready: false });
    expect(plan.conflicts_first).toEqual([
      { operation: 'update-soundboard', subject: '41', row: 2, line: 3, first_row: 1, first_line: 2 },
    ]);
    expect(await readFile(join(cwd, plan.problems.file), 'utf8')).toBe(
      'rows.csv:3: conflicts with line 2: different values for soundboard 41\n' +
        'rows.csv:5: soundboard_id: must be a whole number from 1 to 9223372036854775807, in digits only (none)\n',
    );
    expect(await sandbox.log()).toEqual([]);
    await expect(newestRunFolder(cwd)).rejects.toThrow();
  });

  test('are called once with --on-conflict last: the last one', async () => {
    const { cwd, run, sandbox } = await prepared(text);
    const args = ['rows.csv', '--skip-invalid', '--on-conflict', 'last'];
    const { stdout } = await run('plan', ...args);
    expect(stdout).toContain('2 rows superseded by a later row: left out\n');
    expect((await run('run', ...args, '--yes')).code).toBe(1);
    expect(titles(await sandbox.log()).toSorted()).toEqual(['x', 'z']);
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expect(report.map(({ _outcome, _code }) => `${_outcome} ${_code}`)).toEqual([
      'skipped SUPERSEDED',
      'skipped SUPERSEDED',
      'succeeded OK',
      'invalid INVALID_ROW',
      'succeeded OK',
    ]);
    expect(report[0]?.['_message']).toBe('row 5, which also changes soundboard 41, is called instead');
  });

  test('are called one after the other with --on-conflict in-order, even as a setting', async () => {
    const { cwd, run, sandbox } = await prepared(text, '--latency', '50ms');
    await mkdir(join(cwd, '.cqbatch'), { mode: 0o700 });
    await writeFile(join(cwd, '.cqbatch', 'config.json'), '{"on_conflict":"in-order"}');
    const { stdout } = await run('plan', 'rows.csv', '--skip-invalid');
    expect(stdout).toContain("1 entry is edited more than once: called in the manifest's order\n");
    expect((await run('run', 'rows.csv', '--skip-invalid', '--yes')).code).toBe(1);
    const log = await sandbox.log();
    expect(titles(log.filter(({ id }) => id === '41'))).toEqual(['x', 'y', 'x']);
    expect(log).toHaveLength(4);
  });
});

const faults = 'reset=3%,503=3%,502-after-commit=3%,reset-after-commit=2%';
const rate = ['--rate', '150/s'];
/** An API whose calls fail now and then. */
const faulty = ['--latency', '60ms', '--fault', faults];

/** What became of a run in order whose calls met with faults. */
async function expectExact(cwd: string, edits: Edits): Promise<void> {
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report).toHaveLength(edits.rows);
  expect(report.filter(({ _outcome }) => _outcome !== 'succeeded')).toEqual([]);
}

describe('edits in order', () => {
  test('stay in order when the process is killed three times', async () => {
    const edits = editsCsv(40, 10);
    const { cwd, sandbox } = await prepared(edits.text, ...faulty);
    // What a killed process leaves behind is the datastore's: on Redis, see redis/in-order.test.ts.
    const embedded = { cwd, env: { ...sandbox.env, CQBATCH_BACKOFF: '20ms' } };
    for (let kill = 0; kill < 3; kill += 1) {
      const args = kill === 0 ? ['run', 'rows.csv', '--yes', '--on-conflict', 'in-order'] : ['resume'];
      const child = startCqbatch([...args, ...rate], embedded);
      await saying(child, 'Run 20');
      await sandbox.requested((await sandbox.log()).length + Math.ceil(Math.random() * 80));
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    expect((await cqbatch(['resume', ...rate], embedded)).code).toBe(0);
    expectInOrder(edits, await sandbox.log());
    await expectExact(cwd, edits);
  });

  test('are not retried when a later edit has succeeded: they would revert it', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'rows.csv'), 'soundboard_id,title\n1,a\n2,b\n1,c\n2,d\n1,e\n');
    const sent: string[] = [];
    const refused = new Set(['a', 'd', 'e']);
    const api = await httpServer((response, { body }) => {
      const { soundboard_id: id, title } = JSON.parse(body).soundboard;
      sent.push(title);
      if (refused.has(title)) response.writeHead(400).end('{"code":9,"message":"not yet"}');
      else response.end(JSON.stringify({ soundboard_id: id }));
    });
    const env = { CQBATCH_BASE_URL: api.url, CQBATCH_TOKEN: 'token', ...anyDatastore() };
    const run = (...args: string[]) => cqbatch(args, { cwd, env });
    const args = ['--yes', '--on-conflict', 'in-order', '--run-id', 'first'];
    expect((await run('run', 'rows.csv', ...args)).code).toBe(1);
    refused.clear();
    const { code, stderr } = await run('retry', 'first', '--code', 'FAILED_PRECONDITION', '--yes');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('2 of 5 rows to retry (2 FAILED_PRECONDITION). 1 row that failed is left out: ');
    expect(sent.slice(5).toSorted()).toEqual(['d', 'e']);
    const again = await run('retry', 'first', '--yes');
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('1 row that failed is left out'),
    });
  });

  test('are retried in order', async () => {
    const edits = editsCsv(5, 4);
    const { cwd, sandbox, run } = await prepared(edits.text, '--latency', '60ms', '--soundboards', '0');
    expect((await run('run', 'rows.csv', '--yes', '--on-conflict', 'in-order')).code).toBe(1);
    expect((await run('retry', '--yes')).code).toBe(1);
    const record = JSON.parse(await readFile(join(await newestRunFolder(cwd), 'run.json'), 'utf8'));
    expect(record.options.onConflict).toBe('in-order');
    const log = await sandbox.log();
    expect(log).toHaveLength(2 * edits.rows);
    expectInOrder(edits, log.slice(0, edits.rows));
    expectInOrder(edits, log.slice(edits.rows));
  });
});
