import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createKey } from '../../src/signature/key-file.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { approveFile } from '../helpers/approve-plan.ts';
import { cqbatch, finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { restoreCsv } from './manifests.ts';

/** A folder whose settings want approvals of Ana and Ben, the sandbox, and a manifest of five rows. */
async function place(settings: object = { require_approval_above: 4, approvals: 2 }) {
  const cwd = await temporaryFolder();
  const sandbox = await startSandbox();
  const env = { ...sandbox.env, ...anyDatastore() };
  const options = { cwd, env };
  const keys = { ana: await createKey(join(cwd, 'ana')), ben: await createKey(join(cwd, 'ben')) };
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(5).text);
  await cqbatch(['init'], options);
  const approvers = { ana: keys.ana.publicKey.text, ben: keys.ben.publicKey.text };
  await writeFile(join(cwd, '.cqbatch', 'config.json'), JSON.stringify({ approvers, ...settings }));
  const run = (...args: string[]) => cqbatch(args, options);
  const approve = async (file: string, ...names: readonly ('ana' | 'ben')[]) => {
    for (const name of names) await approveFile(join(cwd, file), keys[name], { user: name, host: 'laptop' });
  };
  const planned = async (...names: readonly ('ana' | 'ben')[]) => {
    expect(await run('plan', 'rows.csv', '--out', 'week.cqplan')).toMatchObject({ code: 0 });
    await approve('week.cqplan', ...names);
  };
  return { cwd, env, sandbox, keys, run, approve, planned };
}

/** What `cqbatch verify` ends with when it could check everything. */
const proved = { code: 0, stdout: expect.stringContaining('Its report is what journal and manifest give.') };

describe('a run that needs approvals', () => {
  test('is refused without them, with what to type', async () => {
    const { sandbox, run, planned } = await place();
    for (const command of ['run', 'submit']) {
      const refused = await run(command, 'rows.csv', '--yes', '--rate', '5/s');
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(
        'error: rows.csv: 5 calls need 2 approvals, and there is none. Next: type "cqbatch plan rows.csv --rate 5/s --out NAME.cqplan", ' +
          'have ana and ben type "cqbatch approve NAME.cqplan", then run it.',
      );
    }
    await planned('ana');
    const one = await run('run', 'week.cqplan');
    expect(one.code).toBe(2);
    expect(one.stderr).toContain('5 calls need 2 approvals, and only 1 counts (ana).');
    const shown = await run('plan', 'week.cqplan');
    expect(shown.stderr).toMatch(
      /Signed by ana \(SHA256:\S+\), valid until .*\n.*Next: cqbatch approve week\.cqplan/,
    );
    expect(JSON.parse((await run('list', '--json')).stdout).runs).toEqual([]);
    expect(await sandbox.log()).toEqual([]);
  });

  test('runs with them, once, whatever its plan and run are called, and names who allowed it', async () => {
    const { cwd, sandbox, keys, run, planned } = await place();
    await planned('ana', 'ben');
    expect(await run('run', 'week.cqplan', '--run-id', 'first')).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(5);
    const shown = (await run('show', 'first')).stdout.replace(/\s+/g, ' ');
    for (const name of ['ana', 'ben'] as const)
      expect(shown).toMatch(new RegExp(`${name} \\d{4}-\\d\\d-\\d\\d [\\d:]+ UTC \\(SHA256`));
    expect(shown).toContain(`(${keys.ana.publicKey.fingerprint})`);
    const { approval, signed_with: signedWith } = JSON.parse((await run('show', 'first', '--json')).stdout);
    expect(signedWith).toBe(JSON.parse((await run('keys', 'show', '--json')).stdout).fingerprint);
    expect(shown).toContain(`signed with ${signedWith}`);
    expect(approval.signers).toMatchObject([{ name: 'ana' }, { name: 'ben' }]);
    const kept = await readFile(join(cwd, '.cqbatch/runs/first/approved.cqplan'), 'utf8');
    expect(kept).toBe(await readFile(join(cwd, 'week.cqplan'), 'utf8'));
    expect(await run('verify', 'first')).toMatchObject(proved);

    await rename(join(cwd, 'week.cqplan'), join(cwd, 'other.cqplan'));
    for (const args of [['other.cqplan'], ['other.cqplan', '--run-id', 'second']]) {
      const again = await run('run', ...args);
      expect(again.code).toBe(2);
      expect(again.stderr).toContain(
        'other.cqplan was carried out by run first, and approvals hold for one run',
      );
    }
    // Pruning does not make the approvals valid again.
    expect(await run('prune', '--keep-last', '0', '--yes')).toMatchObject({ code: 0 });
    expect((await run('run', 'other.cqplan')).stderr).toContain('was carried out by run first');
    expect(await sandbox.log()).toHaveLength(5);
  });

  test('is refused for another target, and when a byte of plan or manifest has changed', async () => {
    const { cwd, sandbox, run, planned } = await place();
    await planned('ana', 'ben');
    const other = await run('run', 'week.cqplan', '--base-url', 'https://other.example.com');
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was signed off with --base-url'),
    });
    const text = await readFile(join(cwd, 'week.cqplan'), 'utf8');
    await writeFile(join(cwd, 'week.cqplan'), text.replace('"attempts": 5', '"attempts": 6'));
    expect(await run('run', 'week.cqplan')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('was changed after'),
    });
    await writeFile(join(cwd, 'week.cqplan'), text);
    await writeFile(join(cwd, 'rows.csv'), restoreCsv(6).text);
    expect(await run('run', 'week.cqplan')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not the manifest that was signed off'),
    });
    expect(await sandbox.log()).toEqual([]);
  });

  test('is not carried out with other rows, though the copy of the manifest and its digest were edited', async () => {
    const { cwd, sandbox, run, planned } = await place();
    await planned('ana', 'ben');
    expect(await run('submit', 'week.cqplan', '--run-id', 'first')).toMatchObject({ code: 0 });
    const [copy, record] = ['manifest.csv', 'run.json'].map((name) => join(cwd, '.cqbatch/runs/first', name));
    const given = await readFile(copy ?? '');
    const other = Buffer.from(restoreCsv(5, 100).text);
    const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    const edited = (await readFile(record ?? '', 'utf8')).replace(digestOf(given), digestOf(other));
    await writeFile(copy ?? '', other);
    await writeFile(record ?? '', edited);
    expect(await run('resume', 'first', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /manifest\.csv is not the manifest that approved\.cqplan has approved, so nothing is sent/,
      ),
    });
    expect(await sandbox.log()).toEqual([]);
  });

  test('smaller runs need none, and a plan may be approved all the same', async () => {
    const { sandbox, run, planned } = await place({ require_approval_above: { 'update-soundboard': 'any' } });
    await planned('ana');
    expect(await run('run', 'week.cqplan', '--json')).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(5);
    // Restored already.
    expect(await run('run', 'rows.csv', '--yes')).toMatchObject({ code: 1 });
    expect(await sandbox.log()).toHaveLength(10);
  });
});

test('approve shows the plan, asks at a terminal, and signs with an SSH key; its user can not run it', async () => {
  const { cwd, env, sandbox, run, planned } = await place({ require_approval_above: 'any' });
  await planned();
  expect(await run('approve', 'week.cqplan', '--key', 'ana')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a person must approve a plan'),
  });
  const answer = async (text: string) => {
    const child = startAtTerminal(['approve', 'week.cqplan', '--key', 'ana', '--valid', '2h'], { cwd, env });
    child.stdin?.end(text);
    return finished(child);
  };
  const declined = await answer('n\n');
  expect(declined).toMatchObject({ code: 2, stdout: expect.stringContaining('Nothing was signed.') });
  const approved = await answer('y\n');
  expect(approved.code).toBe(0);
  expect(approved.stdout).toMatch(
    /restore-evaluation: 5 calls[\s\S]*Approve 5 requests of plan [0-9a-f ]{19} with the key SHA256/,
  );
  expect(approved.stdout).toMatch(/Approved week\.cqplan until .*\. It has 1 of 1 approval\./);
  const own = await run('run', 'week.cqplan');
  expect(own.code).toBe(2);
  expect(own.stderr).toContain('Ana runs the plan, and an approval must come from another person.');
  expect(await sandbox.log()).toEqual([]);
});

test('an inbox runs a manifest with the approved plan beside it, and refuses another content', async () => {
  const { cwd, sandbox, run, approve } = await place({ require_approval_above: 'any' });
  const inbox = join(cwd, 'inbox');
  await mkdir(inbox);
  const refusals = async () => {
    const names = (await readdir(join(inbox, 'failed'))).filter((name) => name.endsWith('.error.txt'));
    return Promise.all(names.map((name) => readFile(join(inbox, 'failed', name), 'utf8')));
  };
  const watch = () => run('watch', 'inbox', '--once', '--yes', '--settle', '1ms');
  await writeFile(join(inbox, 'a.csv'), restoreCsv(3).text);
  await watch();
  expect(await refusals()).toEqual([
    'inbox/a.csv: 3 calls need 1 approval, and there is none. Next: type "cqbatch plan inbox/a.csv --out inbox/a.csv.cqplan", ' +
      'have 1 of ana, ben type "cqbatch approve inbox/a.csv.cqplan", then let the manifest be run again.\n',
  ]);
  await writeFile(join(inbox, 'a.csv'), restoreCsv(3).text);
  expect(await run('plan', 'inbox/a.csv', '--out', 'inbox/a.csv.cqplan')).toMatchObject({ code: 0 });
  await approve('inbox/a.csv.cqplan', 'ana');
  expect(await watch()).toMatchObject({ code: 0 });
  expect(await sandbox.log()).toHaveLength(3);
  expect(await run('verify')).toMatchObject(proved);
  await writeFile(join(inbox, 'a.csv'), restoreCsv(4).text);
  await watch();
  expect(await refusals()).toContainEqual(expect.stringContaining('is not the manifest that was signed off'));
  expect(await sandbox.log()).toHaveLength(3);
});

test('a plan beside a manifest of an inbox is left alone where none is needed', async () => {
  const { cwd, sandbox, run } = await place({ require_approval_above: 4 });
  await mkdir(join(cwd, 'inbox'));
  await writeFile(join(cwd, 'inbox', 'a.csv'), restoreCsv(5).text);
  // It is not approved, and for another content.
  await run('plan', 'inbox/a.csv', '--out', 'inbox/a.csv.cqplan', '--attempts', '1');
  await writeFile(join(cwd, 'inbox', 'a.csv'), restoreCsv(3).text);
  expect(await run('watch', 'inbox', '--once', '--yes', '--settle', '1ms')).toMatchObject({ code: 0 });
  expect(await sandbox.log()).toHaveLength(3);
});

test('a retry needs approvals of its own', async () => {
  const { cwd, sandbox, run, approve } = await place({ require_approval_above: 2 });
  // Evaluations that do not exist.
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(5, 90_000_000).text);
  await run('plan', 'rows.csv', '--out', 'week.cqplan', '--attempts', '1');
  await approve('week.cqplan', 'ana');
  expect(await run('run', 'week.cqplan', '--run-id', 'first')).toMatchObject({ code: 1 });
  const sent = (await sandbox.log()).length;
  const refused = await run('retry', 'first', '--yes');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toMatch(
    /need 1 approval, and there is none\. Next: type "cqbatch retry first --out NAME\.cqplan"/,
  );
  const out = await run('retry', 'first', '--out', 'again.cqplan');
  expect(out).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Next: cqbatch approve again.cqplan'),
  });
  expect(await sandbox.log()).toHaveLength(sent);
  await approve('again.cqplan', 'ana');
  for (const option of [['--attempts', '9'], ['--save-responses']])
    expect(await run('retry', 'first', '--approved', 'again.cqplan', '--yes', ...option)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`was signed off with ${option[0]} `),
    });
  expect(
    await run('retry', 'first', '--approved', 'again.cqplan', '--run-id', 'again', '--yes'),
  ).toMatchObject({ code: 1 });
  const { retry_of: of, approval } = JSON.parse((await run('show', 'again', '--json')).stdout);
  expect([of, approval.signers.length]).toEqual(['first', 1]);
  for (const id of ['first', 'again']) expect(await run('verify', id)).toMatchObject(proved);
});

test('a run that is changed needs a reason where the settings say so', async () => {
  const { sandbox, run } = await place({ require_reason: 'yes' });
  expect(await run('run', 'rows.csv', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('pass --reason'),
  });
  expect(await sandbox.log()).toEqual([]);
  expect(await run('run', 'rows.csv', '--yes', '--reason', 'ticket 7')).toMatchObject({ code: 0 });
});

test('a schedule that is changed needs a reason where the settings say so', async () => {
  const { run } = await place({ require_reason: 'yes' });
  const add = ['add', 'nightly', '--cron', '0 2 * * *', '--manifest', 'rows.csv'];
  const changes = [
    add,
    ['pause', 'nightly'],
    ['unpause', 'nightly'],
    ['trigger', 'nightly'],
    [...add, '--replace'],
  ];
  for (const change of changes) {
    expect(await run('schedule', ...change)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pass --reason'),
    });
    expect(await run('schedule', ...change, '--reason', 'ticket 7')).toMatchObject({ code: 0 });
  }
});
