import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { httpServer } from '../engine/api/local-server.ts';
import { words } from '../examples/command-line.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt, cqbatch, type Finished } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';

/** Tags soundboards, by an operation of one's own that lists its entries. */
const tagging = `export default ({ defineOperation }) => defineOperation({ name: 'tag-board', thing: 'board',
  summary: 'Tag boards', subject: 'board', columns: {}, repeatable: true,
  fields: { board: { type: 'integer', required: true }, title: { type: 'text', undoable: true } },
  request: ({ board, title }) => ({ path: '/api/v1alpha1/org/soundboard/update',
    body: { soundboard: { soundboard_id: board, title } } }),
  interpret: () => ({ ok: true, value: {} }) });`;

/** A machine that says everything with options, and nothing with variables. */
async function withOptionsOnly() {
  const cwd = await temporaryFolder();
  const { url, token, configure } = await startSandbox('--soundboards', '20');
  await mkdir(join(cwd, 'my runs'));
  await writeFile(join(cwd, 'token.txt'), token);
  await writeFile(join(cwd, 'own.mjs'), tagging);
  await writeFile(join(cwd, 'tags.csv'), 'board,title,old_title\n1,A,a\n2,B,b\n99,C,c\n');
  const type = (...args: readonly string[]): Promise<Finished> => cqbatch(args, { cwd, env: asUsersHaveIt });
  /** Types the one command of a message that begins with these words. */
  const typeAsSaid = async ({ stdout, stderr }: Finished, beginning: string, ...more: readonly string[]) => {
    const [said] = [...(stdout + stderr).matchAll(/\bcqbatch ((?:"[^"\n]*"|[^"\n;])*)/g)]
      .map(([, line = '']) => line)
      .filter((line) => line.startsWith(`${beginning} `));
    expect(said, stdout + stderr).toBeDefined();
    return type(...words(said ?? ''), ...more);
  };
  const place = ['--state-dir', 'my runs', '--operations', './own.mjs', '--token-file', 'token.txt'];
  return { cwd, type, typeAsSaid, place, api: ['--base-url', url], configure };
}

test('commands name the folder, module, token file and address that were typed', async () => {
  const { cwd, type, typeAsSaid, place, api } = await withOptionsOnly();
  const planned = await type(
    'plan',
    'tags.csv',
    ...place,
    ...api,
    '--max-failures',
    'none',
    '--out',
    'tags.cqplan',
  );
  const failed = await typeAsSaid(planned, 'run', '--run-id', 'r');
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('2 succeeded, 1 failed') });

  await copyFile(join(cwd, 'tags.csv'), join(cwd, 'my runs/runs/r/correct.csv'));
  expect(await typeAsSaid(failed, 'run', '--yes', '--max-failures', 'none')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('2 succeeded, 1 failed'),
  });

  const asked = await type('retry', 'r', '--code', 'NOT_FOUND', ...place);
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('check the plan with') });
  expect(await typeAsSaid(asked, 'retry')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^1 call/),
  });

  const undoing = await type('undo', 'r', ...place, '--out', 'undo.cqplan');
  expect(await typeAsSaid(undoing, 'run')).toMatchObject({ code: 0 });
});

test('a command that can not know the module or the address says what is missing', async () => {
  const { type, typeAsSaid, place, api } = await withOptionsOnly();
  await type('run', 'tags.csv', ...place, ...api, '--run-id', 'r', '--yes', '--max-failures', 'none');
  const reported = await type('report', 'r', '--state-dir', 'my runs');
  expect(reported.stdout).toContain(
    `cqbatch run --state-dir "my runs" --operations FILE ${api.join(' ')} "my runs/runs/r/correct.csv"`,
  );
  const shown = await type('show', 'r', '--row', '1', '--state-dir', 'my runs');
  expect(shown.stdout).toContain('\nValues (tag-board)\n');
  expect(shown.stdout).not.toMatch(/module|loaded/);
  const elsewhere = await cqbatch(['report', 'r', '--state-dir', 'my runs'], {
    cwd: (await withOptionsOnly()).cwd,
    env: asUsersHaveIt,
  });
  expect(await typeAsSaid(elsewhere, 'list')).toMatchObject({ code: 0 });
});

test('a resume that is refused says only why, and what to type', async () => {
  const { cwd, type, place, api } = await withOptionsOnly();
  const rows = Array.from({ length: 30 }, (_, at) => `${100 + at},C\n`).join('');
  await writeFile(join(cwd, 'halts.csv'), `board,title\n${rows}`);
  const args = [...place, '--allow-partial', '--yes'];
  expect(await type('run', 'halts.csv', ...args, ...api, '--run-id', 'h')).toMatchObject({ code: 3 });
  const refused = await type('resume', 'h', '--state-dir', 'my runs', '--token-file', 'token.txt');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^error: Run h needs the operation tag-board, .*: pass --operations .*\n$/);
  const resumed = await type('resume', 'h', ...place, '--max-failures', 'none', '--stop-at', '00:00');
  expect(resumed.stderr).toMatch(
    /^Run h on .*\n--stop-at 00:00 has passed.*\nRun h was halted\. It now calls/m,
  );
});

test('steps of a submitted run lead back to the daemon', async () => {
  const home = await newHome(6, ['--not-deleted', '0%', '--unrecoverable', '0%']);
  await home.run('submit', 'rows.csv', '--yes', '--run-id', 's', '--max-rows', '2');
  const daemon = await home.worker('--coordinate');
  await home.run('status', 's', '--watch');
  await daemon.stop();
  const reported = await home.run('report', 's');
  expect(reported.stdout).toMatch(/^ {2}cqbatch resume s --submit$/m);
  expect(await home.json('status', 's')).toMatchObject({ state: 'interrupted' });
  expect((await home.run('status', 's')).stdout).toMatch(/^ {2}next +cqbatch resume s --submit$/m);
  const rate = await home.run('set-rate', 's', '5/s');
  expect(rate.stderr).toContain('"cqbatch resume s --submit --rate 5/s" continues it');
  expect(await home.run('resume', 's', '--submit', '--rate', '5/s')).toMatchObject({ code: 0 });
});

test('doctor says what an unknown API answered, and that one of own operations needs the module', async () => {
  const cwd = await temporaryFolder();
  const { url } = await httpServer((response) => void response.writeHead(401).end('{"error":"who?"}'));
  const env = { ...anyDatastore(), CQBATCH_BASE_URL: url, CQBATCH_TOKEN: 'theirs' };
  const { code, stdout } = await cqbatch(['doctor'], { cwd, env });
  expect(code).toBe(4);
  expect(stdout).toMatch(/^failed +token +http:\S+restoreevaluation answers 401: /m);
  expect(stdout).toContain('For the API of your own operations, pass --operations FILE');
  await writeFile(join(cwd, 'own.mjs'), tagging);
  expect(await cqbatch(['doctor', '--operations', './own.mjs'], { cwd, env })).toMatchObject({ code: 0 });
});
