import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { newHome } from './home.ts';
import { cell } from './manifests.ts';

const names = ['file_name', 'file_type', 'title', 'description', 'date_created', 'last_modified'] as const;

interface Readiness {
  readonly ready: boolean;
  readonly warnings: readonly { readonly code: string }[];
}

/** A service of which no user knows yet what its updates do, and a user who looks at its entries. */
async function scene(updates: string) {
  const flags = ['--shape', 'gateway', '--updates', updates];
  const home = await newHome(0, flags, { ...anyDatastore(), CQBATCH_ALLOW_PARTIAL: '' });
  const { sandbox, json, write } = home;
  const before = [1, 2, 3, 4].map((id) => sandbox.soundboard(id));
  const old = before.map((entry) => `${cell(entry?.title)},${cell(entry?.description)}`);
  const header = 'soundboard_id,title,description,old_title,old_description';
  const rows = ['1,A,', '2,B,b', '3,C,<clear>', '4,D,<clear>'].map((row, index) => `${row},${old[index]}`);
  await write('rows.csv', [header, ...rows, ''].join('\n'));
  const full = before.map((entry) => [
    ...[
      entry?.soundboard_id,
      ...names.map((name) => (name === 'description' ? '<clear>' : cell(entry?.[name]))),
    ],
    ...[entry?.file_size, entry?.recording_length],
  ]);
  const fullHeader = ['soundboard_id', ...names, 'file_size', 'recording_length'];
  await write('full.csv', [fullHeader, ...full, ''].join('\n'));

  /** Answers each question by what the service has done. */
  const atTerminal = (...args: readonly string[]) => {
    const child = startAtTerminal(args, home.options);
    const answers: readonly (readonly [question: string, answer: () => string])[] = [
      [
        'kept or reset?',
        () => (sandbox.soundboard(1)?.description === before[0]?.description ? 'kept' : 'reset'),
      ],
      ['was it kept?', () => (sandbox.soundboard(3)?.description === '' ? 'e' : 'k')],
      ['[y/N]', () => 'y'],
    ];
    child.stdout?.on('data', (chunk: Buffer) => {
      const asked = answers.find(([question]) => chunk.includes(question));
      if (asked !== undefined) child.stdin?.write(`${asked[1]()}\n`);
    });
    return finished(child);
  };
  const known = async () =>
    JSON.parse(await readFile(join(home.stateDir, 'targets.json'), 'utf8')).targets[0].updates;
  const readiness = async (...args: readonly string[]) => {
    const { ready, warnings } = await json<Readiness>('plan', ...args);
    return ready || warnings.map(({ code }) => code);
  };
  return { ...home, before, atTerminal, known, readiness };
}

// What a user sees behind a canary decides what later plans refuse.
const trial = ['run', 'rows.csv', '--run-id', 'r', '--allow-partial', '--canary', '1'];

test('merge: fields that rows leave out are kept, and <clear> clears', async () => {
  const { sandbox, before, run, atTerminal, known, readiness } = await scene('merge');
  expect(await readiness('rows.csv')).toEqual(['PARTIAL_ROWS']);
  const tried = await atTerminal(...trial);
  expect(tried).toMatchObject({ code: 0 });
  expect(tried.stdout).toContain(
    'Row 1 leaves out file_name, file_type, description, …. Look at soundboard 1: were the old values kept or reset?',
  );
  expect(tried.stdout).toContain('Row 3 clears description. Look at soundboard 3: is description empty now,');
  expect(await known()).toEqual({ 'update-soundboard': { left_out: 'kept', cleared: 'empty' } });
  expect(await readiness('rows.csv')).toBe(true);
  expect(await run('undo', 'r', '--yes')).toMatchObject({ code: 0 });
  for (const id of [1, 2, 3, 4])
    expect(sandbox.soundboard(id)).toEqual({ ...before[id - 1], last_modified: expect.anything() });
});

test('replace: rows must have all fields, until the user says otherwise', async () => {
  const { sandbox, run, atTerminal, known, readiness } = await scene('replace');
  const tried = await atTerminal(...trial);
  expect(tried).toMatchObject({ code: 3 });
  expect(tried.stdout).toContain('Halted: 4 rows leave fields out, and update-soundboard at');
  expect(await sandbox.log()).toHaveLength(2);
  expect(await known()).toEqual({ 'update-soundboard': { left_out: 'reset' } });
  expect(await readiness('rows.csv', '--allow-partial')).toEqual(['PARTIAL_ROWS']);
  const refused = await run('resume', 'r');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('pass --left-out kept.') });
  await run('cancel', 'r', '--yes');
  const undone = await run('undo', 'r', '--yes');
  expect(undone).toMatchObject({ code: 2, stderr: expect.stringContaining('resets such fields') });
  expect(await sandbox.log()).toHaveLength(2);

  expect(await run('run', 'full.csv', '--yes')).toMatchObject({ code: 0 });
  expect(sandbox.soundboard(2)?.description).toBe('');
  expect(await run('run', 'rows.csv', '--yes', '--left-out', 'kept')).toMatchObject({ code: 0 });
  expect(await known()).toEqual({ 'update-soundboard': { left_out: 'kept' } });
  expect(await readiness('rows.csv')).toBe(true);
});

test('presence: <clear> is refused, until the user says otherwise, and an undo can empty nothing', async () => {
  const { sandbox, run, write, folder, atTerminal, known, readiness } = await scene('presence');
  expect(await atTerminal(...trial)).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('Halted: rows clear description, and update-soundboard at'),
  });
  expect(await sandbox.log()).toHaveLength(2);
  expect(await known()).toEqual({ 'update-soundboard': { left_out: 'kept', cleared: 'kept' } });
  expect(await readiness('rows.csv')).toEqual(['CLEARED_ROWS']);

  const titles = 'soundboard_id,title,description,old_title,old_description\n1,A,a,B,<clear>\n';
  await write('titles.csv', titles);
  expect(await run('run', 'titles.csv', '--yes', '--run-id', 'titles')).toMatchObject({ code: 0 });
  expect(await run('undo', 'titles', '--yes')).toMatchObject({ code: 0 });
  expect(sandbox.soundboard(1)).toMatchObject({ title: 'B', description: 'a' });
  expect(await readCsv(folder('titles'), 'not-undone.csv')).toMatchObject([
    { fields: 'description', why: expect.stringContaining('no old values that the API can set') },
  ]);
  expect(await run('resume', 'r', '--cleared', 'empty')).toMatchObject({ code: 0 });
  expect(await known()).toEqual({ 'update-soundboard': { left_out: 'kept', cleared: 'empty' } });
});
