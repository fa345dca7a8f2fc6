import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { approveFile } from '../helpers/approve-plan.ts';
import { cqbatchAtTerminal } from '../helpers/cqbatch.ts';
import { allowedSigners, sshKey } from '../helpers/ssh-key.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

/** A folder whose settings want approvals of Ana and Ben, the sandbox, and a manifest of five rows. */
async function place(settings: object = { require_approval_above: 4, approvals: 2 }) {
  const { cwd, sandbox, options, run, runWith, json, write } = await newHome(5);
  const keys = { ana: await sshKey(), ben: await sshKey() };
  await run('init');
  const approvers = await allowedSigners(keys);
  await write('.cqbatch/config.json', JSON.stringify({ approvers, ...settings }));
  const approve = async (file: string, ...names: readonly ('ana' | 'ben')[]) => {
    for (const name of names) await approveFile(join(cwd, file), keys[name], { user: name, host: 'laptop' });
  };
  const planned = async (...names: readonly ('ana' | 'ben')[]) => {
    expect(await run('plan', 'rows.csv', '--out', 'week.cqplan')).toMatchObject({ code: 0 });
    await approve('week.cqplan', ...names);
  };
  return { cwd, options, sandbox, keys, run, runWith, json, approve, planned };
}

/** What `cqbatch verify` says when it could check everything. */
const proved = {
  code: 0,
  stdout: expect.stringMatching(/Its report was made again [^\n]*\n(?: {2}sha256:[^\n]*\n){4}To find out/),
};

describe('a run that needs approvals', () => {
  test('is refused without them, with what to type', async () => {
    const { sandbox, run, json, planned } = await place();
    for (const command of ['run', 'submit']) {
      const refused = await run(command, 'rows.csv', '--yes', '--rate', '5/s');
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(
        'error: rows.csv: 5 calls, 0 of 2 approvals. Next: type "cqbatch plan rows.csv --rate 5/s --out NAME.cqplan", ' +
          'have ana and ben type "cqbatch approve NAME.cqplan", then run it.',
      );
    }
    await planned('ana');
    const one = await run('run', 'week.cqplan');
    expect(one.code).toBe(2);
    expect(one.stderr).toContain('5 calls, 1 of 2 approvals (ana).');
    expect(await json('list')).toEqual({ runs: [] });
    expect(await sandbox.log()).toEqual([]);
  });

  test('runs with them, once, whatever its plan and run are called, and names who allowed it', async () => {
    const { cwd, sandbox, run, json, planned } = await place();
    await planned('ana', 'ben');
    expect(await run('run', 'week.cqplan', '--run-id', 'first')).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(5);
    const shown = (await run('show', 'first')).stdout.replace(/\s+/g, ' ');
    for (const name of ['ana', 'ben'] as const)
      expect(shown).toMatch(new RegExp(`${name} \\d{4}-\\d\\d-\\d\\d [\\d:]+ UTC \\(SHA256`));
    expect(await json('show', 'first')).toMatchObject({
      approval: { signers: [{ name: 'ana' }, { name: 'ben' }] },
    });
    expect(await run('verify', 'first')).toMatchObject(proved);

    for (const end of ['', '.ana.approval', '.ben.approval'])
      await rename(join(cwd, `week.cqplan${end}`), join(cwd, `other.cqplan${end}`));
    // Pruning does not make the approvals valid again.
    expect(await run('prune', '--keep-last', '0', '--yes')).toMatchObject({ code: 0 });
    expect(await run('run', 'other.cqplan', '--run-id', 'second')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('other.cqplan was carried out by another run'),
    });
    expect(await sandbox.log()).toHaveLength(5);
  });

  test('is not carried out with other rows or options, though files in its folder were edited', async () => {
    const { cwd, sandbox, run, runWith, planned } = await place();
    await planned('ana', 'ben');
    expect(await run('submit', 'week.cqplan', '--run-id', 'first')).toMatchObject({ code: 0 });
    const [rows = '', record = ''] = ['rows.jsonl', 'run.json'].map((name) =>
      join(cwd, '.cqbatch/runs/first', name),
    );
    const [given, kept] = [await readFile(rows, 'utf8'), await readFile(record, 'utf8')];
    const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
    const refusals: readonly (readonly [rows: string, record: string, problem: RegExp])[] = [
      [given.replace('"body":"{', '"body":"{ '), kept, /rows\.jsonl was changed after run first was planned/],
      [
        given,
        kept.replace(sandbox.url, 'http://127.0.0.1:9'),
        /has another "baseUrl" than its approved plan/,
      ],
    ];
    const other = given.replace('"body":"{', '"body":"{ ');
    const bent = kept.replace(`"sha256": "${digestOf(given)}"`, `"sha256": "${digestOf(other)}"`);
    for (const [text, json, problem] of [...refusals, [other, bent, /has another "plan"/] as const]) {
      await writeFile(rows, text);
      await writeFile(record, json);
      const refused = await runWith({ CQBATCH_BASE_URL: '' }, 'resume', 'first', '--yes');
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toMatch(problem);
    }
    expect(await sandbox.log()).toEqual([]);
    await writeFile(rows, given);
    await writeFile(record, kept);
    expect(await run('resume', 'first', '--attempts', '9')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has another "attempts" than its approved plan'),
    });
    expect(await run('resume', 'first')).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(5);
  });

  test('calls what was approved, whatever became of the manifest and of the module of its operation', async () => {
    const { cwd, run, approve } = await place();
    const server = await httpServer((response) => response.writeHead(200).end('{}'));
    const module = (
      method: string,
    ) => `export default ({ defineOperation }) => defineOperation({ name: 'touch-entry', thing: 'entry', summary: 'Touches an entry', repeatable: true,
      fields: { id: { type: 'integer', required: true } }, subject: 'id',
      request: ({ id }) => ({ method: '${method}', path: '/entries/' + id }),
      interpret: () => ({ ok: true, value: {} }), columns: {},
    });`;
    await writeFile(join(cwd, 'touch.mjs'), module('POST'));
    await writeFile(join(cwd, 'rows.csv'), 'id\n9\n');
    const own = ['--operations', './touch.mjs', '--operation', 'touch-entry', '--base-url', server.url];
    expect(await run('plan', 'rows.csv', '--out', 'week.cqplan', ...own)).toMatchObject({ code: 0 });
    await approve('week.cqplan', 'ana', 'ben');
    await writeFile(join(cwd, 'rows.csv'), 'id\n7\n');
    await writeFile(join(cwd, 'touch.mjs'), module('DELETE'));
    const ran = await run('run', 'week.cqplan', ...own.slice(0, 2), ...own.slice(4));
    expect(ran.stderr).toContain('warning: the module of the operation touch-entry is not the one');
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /entries/9']);
  });

  test('is carried out by one of two that begin at the same time', async () => {
    const { sandbox, run, planned } = await place();
    await planned('ana', 'ben');
    const both = await Promise.all(
      ['one', 'two'].map((id) => run('run', 'week.cqplan', '--run-id', id, '--wait', '2m')),
    );
    expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
    expect(both.find(({ code }) => code === 2)?.stderr).toContain('was carried out by another run');
    expect(await sandbox.log()).toHaveLength(5);
  });
});

test('approve shows the plan, asks at a terminal, and signs with an SSH key; its user can not run it', async () => {
  const { options, keys, sandbox, run, planned } = await place({ require_approval_above: 'any' });
  await planned();
  expect(await run('approve', 'week.cqplan', '--key', keys.ana)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a person must approve a plan'),
  });
  const args = ['approve', 'week.cqplan', '--key', keys.ana, '--valid', '2h'];
  const approved = await cqbatchAtTerminal(args, options, ['[y/N]', 'y\n']);
  expect(approved.code).toBe(0);
  expect(approved.stdout).toMatch(
    /restore-evaluation: 5 calls[\s\S]*Approve 5 requests of plan [0-9a-f ]{19} with the key \S+id_ed25519/,
  );
  expect(approved.stdout).toMatch(
    /Wrote week\.cqplan\.\w+\.approval, which holds until .*\. week\.cqplan has 1 of 1 approval\.\s+Nothing was sent\. Another person runs it: cqbatch run week\.cqplan/,
  );
  const own = await run('run', 'week.cqplan');
  expect(own.code).toBe(2);
  expect(own.stderr).toContain(" can't approve a plan that ");
  expect(await sandbox.log()).toEqual([]);
});

test('approve says who is still missing', async () => {
  const { options, keys, planned } = await place();
  await planned();
  const args = ['approve', 'week.cqplan', '--key', keys.ana];
  expect((await cqbatchAtTerminal(args, options, ['[y/N]', 'y\n'])).stdout).toMatch(
    /week\.cqplan has 1 of 2 approvals\.\s+Nothing was sent\. Missing: 1 more approval, by ben: cqbatch approve week\.cqplan/,
  );
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
  expect(refused.stderr).toMatch(/0 of 1 approval\. Next: type "cqbatch retry first --out NAME\.cqplan"/);
  const out = await run('retry', 'first', '--out', 'again.cqplan');
  expect(out).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Next: cqbatch approve again.cqplan'),
  });
  expect(await sandbox.log()).toHaveLength(sent);
  await approve('again.cqplan', 'ana');
  expect(await run('run', 'again.cqplan', '--save-responses')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--save-responses was '),
  });
  expect(await run('run', 'again.cqplan', '--run-id', 'again')).toMatchObject({ code: 1 });
  const { retry_of: of, approval } = JSON.parse((await run('show', 'again', '--json')).stdout);
  expect([of, approval.signers.length]).toEqual(['first', 1]);
  for (const id of ['first', 'again']) expect(await run('verify', id)).toMatchObject(proved);
});

test('a plan of failed rows is refused when they were retried since it was made', async () => {
  const { cwd, sandbox, run, approve } = await place({});
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(2, 90_000_000).text);
  expect(await run('run', 'rows.csv', '--yes', '--run-id', 'first')).toMatchObject({ code: 1 });
  expect(await run('retry', 'first', '--out', 'again.cqplan')).toMatchObject({ code: 0 });
  await approve('again.cqplan', 'ana');
  expect(await run('retry', 'first', '--yes', '--run-id', 'second')).toMatchObject({ code: 1 });
  const sent = (await sandbox.log()).length;
  expect(await run('run', 'again.cqplan')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /Run second has called rows of run first since again\.cqplan was made: .* "cqbatch retry first --out NAME\.cqplan"/,
    ),
  });
  expect(await sandbox.log()).toHaveLength(sent);
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
