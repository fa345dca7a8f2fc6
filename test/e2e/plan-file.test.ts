import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashFile } from '../../src/base/disk/hash-file.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

const text =
  'operation,evaluation_id,user_id,soundboard_id,title\nrestore-evaluation,7,u,,\nupdate-soundboard,,,41,Greeting\n';
/** A plan says by itself what it lets a run do. */
const guarded = { CQBATCH_ALLOW_PARTIAL: '' };

/** A plan that was made in one folder, and what runs it in another one. */
async function planThere(...flags: string[]) {
  const [there, here] = [await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(there, 'rows.csv'), text);
  const sandbox = await startSandbox();
  const env = { ...sandbox.env, ...anyDatastore(), ...guarded };
  const args = ['plan', 'rows.csv', '--out', 'week 47.cqplan', '--allow-partial', ...flags];
  const planned = await cqbatch(args, { cwd: there, env });
  for (const name of ['rows.csv', 'week 47.cqplan']) await copyFile(join(there, name), join(here, name));
  const run = (more: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) =>
    cqbatch(['run', 'week 47.cqplan', ...more], { cwd: here, env: { ...env, ...variables } });
  const show = (...more: readonly string[]) => cqbatch(['plan', 'week 47.cqplan', ...more], { cwd: here });
  return { sandbox, here, planned, run, show };
}

test('a plan file is shown again, with its SHA-256, and sends nothing', async () => {
  const { sandbox, planned, show } = await planThere('--rate', '50/s');
  const shown = await show();
  expect(shown.code).toBe(0);
  const withoutEnd = (text: string): string => text.replace(/, until .* UTC$/m, '');
  expect(withoutEnd(shown.stdout)).toBe(withoutEnd(planned.stdout));
  expect(shown.stderr).toMatch(
    /^week 47\.cqplan \(SHA-256 [0-9a-f]{64}\), made .* by .* on .*\.\nOptions: --rate 50\/s --max-failures none --allow-partial; the others as usual\.\nNothing was sent\. Next: cqbatch run .week 47\.cqplan. --sha256 [0-9a-f]{64}\n$/,
  );
  expect(await show('--rate', '5/s')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--rate was 50/s when '),
  });
  expect(await sandbox.log()).toEqual([]);
});

test('a plan file is run without a question, elsewhere, and once', async () => {
  const { sandbox, here, planned, run } = await planThere('--rate', '50/s', '--json');
  const { plan_sha256: sha256 } = JSON.parse(planned.stdout);
  // A new address needs the consent of this user, too.
  expect(await run(['--yes'], { CQBATCH_BASE_URL: '' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      `names the address ${sandbox.url}, which no run of this state folder has called: pass --base-url ${sandbox.url} if`,
    ),
  });
  expect(await sandbox.log()).toEqual([]);
  expect((await run(['--base-url', sandbox.url], { CQBATCH_BASE_URL: '' })).code).toBe(0);
  expect(await sandbox.log()).toHaveLength(2);
  const id = `week-47-${sha256.slice(0, 8)}`;
  expect(JSON.parse(await readFile(join(await newestRunFolder(here), 'run.json'), 'utf8'))).toMatchObject({
    id,
    options: { rate: { text: '50/s' }, baseUrl: sandbox.url },
    planFile: { name: 'week 47.cqplan', sha256 },
  });
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining(`Run ${id} already exists`) });
  expect(await run(['--run-id', 'again'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`week 47.cqplan is the plan of run ${id}, and a plan is run once.`),
  });
  expect(await sandbox.log()).toHaveLength(2);
});

test('with --sha256, only the file with exactly this SHA-256 is run', async () => {
  const { sandbox, here, planned, run } = await planThere('--json');
  const { plan_sha256: sha256 } = JSON.parse(planned.stdout);
  expect((await hashFile(join(here, 'week 47.cqplan'))).sha256).toBe(sha256);
  for (const [digest, said] of [
    [sha256.slice(0, 16), 'write all 64 hexadecimal digits of a SHA-256'],
    ['0'.repeat(64), `week 47.cqplan has the SHA-256 ${sha256}, not that of --sha256`],
  ])
    expect(await run(['--sha256', digest])).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  const manifest = ['run', 'rows.csv', '--yes', '--sha256', sha256];
  expect(await cqbatch(manifest, { cwd: here, env: sandbox.env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cqbatch plan rows.csv --out NAME.cqplan'),
  });
  expect(await sandbox.log()).toEqual([]);
  expect(await run(['--sha256', sha256])).toMatchObject({ code: 0 });
  expect(await sandbox.log()).toHaveLength(2);
});

test('the run of a plan may be more careful: with a canary, or with a part of the rows', async () => {
  const { sandbox, here, run } = await planThere();
  expect((await run(['--canary', '1', '--max-rows', '1'])).code).toBe(6);
  expect(await sandbox.log()).toHaveLength(1);
  expect(await cqbatch(['resume'], { cwd: here, env: { ...sandbox.env, ...anyDatastore() } })).toMatchObject({
    code: 0,
  });
  const record = JSON.parse(await readFile(join(await newestRunFolder(here), 'run.json'), 'utf8'));
  expect(record).toMatchObject({ options: { canary: { rows: 1, maxFailures: 0 } } });
});

test('a plan is refused, and nothing is sent, when another rate or base URL is wanted', async () => {
  const { sandbox, run } = await planThere('--rate', '50/s');
  const refusal = (message: string) => ({ code: 2, stderr: expect.stringContaining(message) });
  expect(await run(['--rate', '5/s'])).toMatchObject(
    refusal('--rate was 50/s when week 47.cqplan was made, and is 5/s now'),
  );
  const elsewhere = { CQBATCH_BASE_URL: 'https://other.example.com' };
  expect(await run([], elsewhere)).toMatchObject(refusal('--base-url'));
  expect(await sandbox.log()).toEqual([]);
});

test('a plan that is not ready is not written to a file', async () => {
  const cwd = await temporaryFolder();
  const { env } = await startSandbox();
  await writeFile(join(cwd, 'rows.csv'), text);
  const plan = ['plan', 'rows.csv', '--out', 'week.cqplan'];
  expect(await cqbatch(plan, { cwd, env: { ...env, ...guarded } })).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('leaves fields out'),
  });
  await expect(readFile(join(cwd, 'week.cqplan'))).rejects.toThrow('ENOENT');
});

test('a plan of failed rows is refused when they were retried since it was made', async () => {
  const { run, sandbox } = await newHome(restoreCsv(2, 90_000_000).text);
  expect(await run('run', 'rows.csv', '--yes', '--run-id', 'first')).toMatchObject({ code: 1 });
  expect(await run('retry', 'first', '--plan')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 calls'),
  });
  const out = await run('retry', 'first', '--out', 'again.cqplan');
  expect(out).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Next: cqbatch run again.cqplan --sha256 '),
  });
  expect((await run('plan', 'again.cqplan')).stderr).not.toContain('allow-partial');
  const before = (await sandbox.log()).length;
  expect(await run('retry', 'first', '--yes', '--run-id', 'second')).toMatchObject({ code: 1 });
  const sent = (await sandbox.log()).length;
  expect(sent).toBeGreaterThan(before);
  expect(await run('run', 'again.cqplan')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /Run second has called rows of run first since again\.cqplan was made: .* "cqbatch retry first --out NAME\.cqplan"/,
    ),
  });
  expect(await sandbox.log()).toHaveLength(sent);
});
