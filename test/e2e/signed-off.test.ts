import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const text =
  'operation,evaluation_id,user_id,soundboard_id,title\nrestore-evaluation,7,u,,\nupdate-soundboard,,,41,Greeting\n';
/** A plan says by itself what it lets a run do. */
const guarded = { CQBATCH_ALLOW_PARTIAL: '' };

/** A plan that was made in one folder, and what runs it in another one. */
async function signedOff(...flags: string[]) {
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

test('a plan that was signed off is shown again, and sends nothing', async () => {
  const { sandbox, planned, show } = await signedOff('--rate', '50/s');
  const shown = await show();
  expect(shown.code).toBe(0);
  expect(shown.stdout).toBe(planned.stdout);
  expect(shown.stderr).toMatch(
    /^week 47\.cqplan \(fingerprint [0-9a-f ]{19}\), made .* by .* on .*\.\nOptions: rate 50\/s, max-failures none, allow-partial; the others as usual\.\nNothing was sent\. Next: cqbatch run .week 47\.cqplan.\n$/,
  );
  expect(await show('--rate', '5/s')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--rate was 50/s when '),
  });
  expect(await sandbox.log()).toEqual([]);
});

test('a plan that was signed off is run without a question, elsewhere, and once', async () => {
  const { sandbox, here, planned, run } = await signedOff('--rate', '50/s', '--json');
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
    approval: { file: 'week 47.cqplan', sha256 },
  });
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining(`Run ${id} already exists`) });
  expect(await sandbox.log()).toHaveLength(2);
});

test('the run of a plan may be more careful: with a canary, or with a part of the rows', async () => {
  const { sandbox, here, run } = await signedOff();
  expect((await run(['--canary', '1', '--max-rows', '1'])).code).toBe(6);
  expect(await sandbox.log()).toHaveLength(1);
  // The canary has the row that leaves fields out, too.
  expect(await cqbatch(['resume'], { cwd: here, env: { ...sandbox.env, ...anyDatastore() } })).toMatchObject({
    code: 0,
  });
  const record = JSON.parse(await readFile(join(await newestRunFolder(here), 'run.json'), 'utf8'));
  expect(record).toMatchObject({ options: { canary: { rows: 1, maxFailures: 0 } } });
});

test('a plan is refused, and nothing is sent, when another rate or base URL is wanted', async () => {
  const { sandbox, run } = await signedOff('--rate', '50/s');
  const refusal = (message: string) => ({ code: 2, stderr: expect.stringContaining(message) });
  expect(await run(['--rate', '5/s'])).toMatchObject(
    refusal('--rate was 50/s when week 47.cqplan was made, and is 5/s now'),
  );
  const elsewhere = { CQBATCH_BASE_URL: 'https://other.example.com' };
  expect(await run([], elsewhere)).toMatchObject(refusal('--base-url'));
  expect(await sandbox.log()).toEqual([]);
});

test('a plan that is not ready cannot be signed off', async () => {
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
