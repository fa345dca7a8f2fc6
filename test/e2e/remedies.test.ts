import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { words } from '../examples/command-line.ts';
import { cqbatch, type Finished } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A machine with runs that ended in each way. */
async function prepared() {
  const cwd = await temporaryFolder();
  const header = 'evaluation_id,user_id\n';
  const rows = Array.from({ length: 12 }, (_, index) => `${index + 1},u\n`).join('');
  await writeFile(join(cwd, 'rows.csv'), header + rows);
  await writeFile(join(cwd, 'fails.csv'), `${header}1,u\n99999,u\n`);
  await writeFile(join(cwd, 'the rows.csv'), `${header}13,u\n`);
  const rounded = Array.from({ length: 6 }, (_, index) => `900719925474${index}000,u\n`).join('');
  await writeFile(join(cwd, 'rounded.csv'), header + rounded);
  const { env } = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%');
  const type = (typed: readonly string[], more = {}): Promise<Finished> =>
    cqbatch(typed, { cwd, env: { ...env, ...more } });
  /** What a line of a message says to type; `--yes` where the next message asks for it. */
  const typeAsSaid = async ({ stdout, stderr }: Finished, beginning: string): Promise<Finished> => {
    const command = new RegExp(`"cqbatch (${beginning}[^"]*)"|(?::|\\n) +cqbatch (${beginning}[^;(\\n]*)`);
    const said = command.exec(stdout + stderr);
    expect(said, stdout + stderr).not.toBeNull();
    const typed = words(said?.[1] ?? said?.[2] ?? '');
    const first = await type(typed);
    return first.code === 2 && first.stderr.includes('pass --yes') ? type([...typed, '--yes']) : first;
  };
  return { cwd, type, typeAsSaid };
}

type Case = readonly [
  title: string,
  before: readonly (readonly string[])[],
  typed: readonly string[],
  beginning: string,
  result: { readonly code: number; readonly said?: string },
];

const run = ['run', 'rows.csv', '--yes', '--run-id'];
const stopped = [...run, 'stopped', '--max-rows', '2'];
const failed = ['run', 'fails.csv', '--yes', '--run-id', 'failed'];
const cancelled = [stopped, ['cancel', 'stopped', '--yes']];
const elsewhere = ['plan', 'the rows.csv', '--base-url', 'http://192.0.2.1'];
const probed = ['watch', 'nowhere', '--yes', '--health-port', '0', '--health-host'];
const schedule = ['schedule', 'add', 's', '--cron', '0 2 * * *', '--manifest', 'rows.csv'];

const replaced = [...schedule, '--replace'];
const plan = ['plan', 'rows.csv'];

test.each<Case>([
  ['a run that is complete', [failed], ['resume', 'failed'], 'retry', { code: 1, said: '1 failed' }],
  ['a run that was cancelled', cancelled, ['resume', 'stopped'], 'retry', { code: 0, said: '10 succeeded' }],
  ['a run that a limit stopped', [], stopped, 'resume', { code: 0, said: '12 succeeded' }],
  ['no run in progress', [stopped], ['cancel', '--yes'], 'cancel', { code: 0, said: 'cancelled' }],
  ['an open run', [stopped], ['undo', 'stopped', '--yes'], 'cancel', { code: 0, said: 'cancelled' }],
  ['a new rate of a stopped run', [stopped], ['set-rate', 'stopped', '5/s'], 'resume', { code: 0 }],
  ['a new priority of a stopped run', [stopped], ['set-priority', 'stopped', 'low'], 'resume', { code: 0 }],
  ['a name that another run has', [failed], failed.with(1, 'rows.csv'), 'status', { code: 0 }],
  ['a plan', [], ['plan', 'the rows.csv', '--max-rows', '5'], 'run', { code: 0, said: '1 succeeded' }],
  ['a name that another schedule has', [schedule], schedule, 'schedule show', { code: 0, said: 's' }],
])('%s says what to type, which works', async (_title, before, typed, beginning, result) => {
  const { type, typeAsSaid } = await prepared();
  for (const each of before) await type(each);
  const done = await typeAsSaid(await type(typed), beginning);
  expect(done, done.stderr).toMatchObject({ code: result.code });
  expect(done.stdout + done.stderr).toContain(result.said ?? '');
});

test.each([
  ['--keep-days', ['prune'], ['prune', '--keep-days', '90', '--yes'], 0],
  ['--keep-last', ['prune'], ['prune', '--keep-last', '30', '--yes'], 0],
  ['--replace', schedule, replaced, 0],
  ['--overlap', [...replaced, '--overlap', 'two'], [...replaced, '--overlap', 'queue'], 0],
  ['--catch-up', [...replaced, '--catch-up', 'soon'], [...replaced, '--catch-up', '2h'], 0],
  ['--stop-at', [...plan, '--stop-at', '06:00 Nowhere'], [...plan, '--stop-at', '06:00 Europe/London'], 0],
  ['--trust-ids', ['plan', 'rounded.csv'], ['plan', 'rounded.csv', '--trust-ids'], 0],
  ['--allow-insecure-http', [...elsewhere], [...elsewhere, '--allow-insecure-http'], 0],
  ['--health-host', [...probed, '192.0.2.1'], [...probed, '127.0.0.1'], 2],
  [
    '--queue-password-file',
    ['list', '--queue', 'redis://:secret@127.0.0.1:1'],
    ['list', '--queue', 'redis://127.0.0.1:1', '--queue-password-file', 'rows.csv'],
    0,
  ],
  ['--state-dir', ['list', '--state-dir', 'rows.csv'], ['list', '--state-dir', 'other'], 0],
])('%s is named, and works', async (option, typed, remedy, code) => {
  const { type } = await prepared();
  await type(schedule);
  const { stdout, stderr } = await type(typed);
  expect(stdout + stderr).toContain(option);
  expect(await type(remedy)).toMatchObject({ code });
});

test('a run whose rows were changed is cancelled, and its manifest planned again', async () => {
  const { cwd, type, typeAsSaid } = await prepared();
  await type(stopped);
  const rows = join(cwd, '.cqbatch', 'runs', 'stopped', 'rows.jsonl');
  await writeFile(rows, (await readFile(rows, 'utf8')).replace('"12","u"', '"12","w"'));
  expect(await typeAsSaid(await type(['resume', 'stopped']), 'cancel')).toMatchObject({ code: 0 });
  expect(await type(['plan', 'rows.csv'])).toMatchObject({ code: 0 });
});

test('a report that does not agree with its run is written again', async () => {
  const { cwd, type, typeAsSaid } = await prepared();
  await type(failed);
  await writeFile(join(cwd, '.cqbatch', 'runs', 'failed', 'report.csv'), 'edited');
  expect(await typeAsSaid(await type(['verify', 'failed']), 'report')).toMatchObject({ code: 0 });
  expect(await type(['verify', 'failed'])).toMatchObject({ code: 0 });
});

test('a state folder that others may write to is closed, and its settings are trusted', async () => {
  const { cwd, type } = await prepared();
  const folder = join(cwd, 'the runs');
  await mkdir(folder);
  await writeFile(join(folder, 'config.json'), '{}');
  await chmod(folder, 0o777);
  const { stderr } = await type(['list', '--state-dir', folder]);
  shell(stderr, 'chmod');
  expect((await type(['list', '--state-dir', folder])).stderr).toBe('');
});

/** Types a command of the shell, as a message quotes it. */
function shell(message: string, program: string): void {
  const [, line = ''] = new RegExp(`type "(${program} (?:"[^"]*"|[^"])*?)"[.,]`).exec(message) ?? [];
  expect(line, message).not.toBe('');
  execFileSync('/bin/sh', ['-c', line]);
}
