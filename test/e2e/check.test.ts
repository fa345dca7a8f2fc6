import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Cells, readCsv } from '../helpers/run-folder.ts';
import { shapes, type TestSandbox } from '../helpers/sandbox.ts';
import { type Home, newHome } from './home.ts';

/** Some rows are done although no usable answer comes, others are not. */
const faults = 'reset=20%,502-after-commit=20%';
const starting = ['--yes', '--attempts', '1', '--max-failures', 'none', '--allow-partial', '--run-id', 'one'];

interface CheckDocument {
  readonly as_wanted: number;
  readonly not_as_wanted: number;
  readonly gone: number;
  readonly overtaken: number;
  readonly as_reported: boolean;
  readonly unclear: { readonly rows: number; readonly done: number; readonly not_done: number };
  readonly next: readonly string[];
}

const checkCsv = (home: Home): Promise<readonly Cells[]> => readCsv(home.folder('one'), 'check.csv');

/** What another client does, without the program. */
async function edit(sandbox: TestSandbox, id: number, fields: object): Promise<void> {
  const answer = await fetch(`${sandbox.url}/api/v1alpha1/org/soundboard/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ soundboard: { soundboard_id: id, ...fields } }),
  });
  expect(answer.status).toBe(200);
}

const renaming = (rows: number): string =>
  ['soundboard_id,title', ...Array.from({ length: rows }, (_, at) => `${at + 1},New ${at + 1}`), ''].join(
    '\n',
  );

describe.each(shapes)('at a service in the shape %s', (shape) => {
  test('unclear updates are answered, and what another client changed or removed is told', async () => {
    const home = await newHome(renaming(40), ['--shape', shape, '--soundboards', '40', '--fault', faults]);
    const { sandbox, run, json, folder } = home;
    await run('run', 'rows.csv', ...starting);
    sandbox.configure({ fault: 'none' });
    const report = await home.report('one');
    const unclear = report.filter((row) => row['_unclear'] === 'yes');
    const isDone = (row: Cells): boolean =>
      sandbox.soundboard(Number(row['soundboard_id']))?.title === row['title'];
    const done = unclear.filter(isDone);
    expect(done.length).toBeGreaterThan(0);
    expect(unclear.length).toBeGreaterThan(done.length);
    const [other] = report.filter((row) => row['_outcome'] === 'succeeded');
    await edit(sandbox, Number(other?.['soundboard_id']), { title: 'Other' });
    const before = await textsOf(folder('one'));

    const { code, stdout } = await run('check');
    expect(code).toBe(1);
    const open = unclear.length - done.length;
    expect(stdout).toContain(
      `${done.length} of ${unclear.length} unclear rows ${done.length === 1 ? 'was' : 'were'} done, ${open} ${open === 1 ? 'was' : 'were'} not: cqbatch retry one --unclear calls `,
    );
    expect(stdout).toContain(
      `row ${other?.['_row']}, soundboard ${other?.['soundboard_id']}: title is "Other"`,
    );
    const checked = await checkCsv(home);
    expect(checked).toHaveLength(40);
    for (const row of report) {
      const found = checked.find((each) => each['_row'] === row['_row']);
      const isOther = row['_row'] === other?.['_row'];
      expect(found).toMatchObject({
        _identifier: row['soundboard_id'],
        _outcome: row['_outcome'],
        _unclear: row['_unclear'],
        _check: isOther || !isDone(row) ? 'not_as_wanted' : 'as_wanted',
      });
    }

    const after = await textsOf(folder('one'));
    expect({ ...after, html: '' }).toEqual({ ...before, html: '' });
    expect(withoutCheck(after.html)).toBe(withoutCheck(before.html));
    expect([before, after].map(({ html }) => html.includes('cqbatch check one'))).toEqual([true, false]);
    expect(after.html).toContain('title is \\"Other\\"');
    await run('check');
    expect(withoutCheck((await textsOf(folder('one'))).html)).toBe(withoutCheck(before.html));
    const [, ...next] = ((await run('report', 'one')).stdout.split('\nNext: ')[1] ?? '').split('\n  ');
    expect(next).toEqual(['cqbatch retry one --unclear', expect.stringMatching(/not done\.\n$/)]);
    const number = other?.['_row'] ?? '';
    expect((await run('show', 'one', '--row', number)).stdout).toMatch(
      /Checked at .*: not as wanted \(title is "Other"\)/,
    );

    const calls = (await sandbox.log()).length;
    expect(await run('retry', 'one', '--unclear', '--yes', '--run-id', 'two')).toMatchObject({ code: 0 });
    expect((await sandbox.log()).length - calls).toBe(open);
    const last = await json<CheckDocument>('check', 'one');
    expect(last).toMatchObject({ not_as_wanted: 1, gone: 0, as_reported: false, next: [] });
    expect((await run('report', 'one')).stdout).not.toContain('Next:');
  });

  test('restored evaluations are told from deleted and missing ones', async () => {
    const flags = ['--shape', shape, '--evaluations', '60', '--unrecoverable', '0%', '--not-deleted', '0%'];
    const home = await newHome(30, [...flags, '--fault', faults]);
    const { sandbox, run, json } = home;
    await run('run', 'rows.csv', ...starting);
    sandbox.configure({ fault: 'none' });
    const report = await home.report('one');
    const isDone = (row: Cells): boolean =>
      sandbox.evaluation(Number(row['evaluation_id']))?.deleted_at === undefined;
    const unclear = report.filter((row) => row['_unclear'] === 'yes');
    const done = unclear.filter(isDone);
    expect(done.length).toBeGreaterThan(0);
    const document = await json<CheckDocument>('check');
    expect(document).toMatchObject({
      as_wanted: report.filter(isDone).length,
      not_as_wanted: unclear.length - done.length,
      gone: 0,
      unclear: { rows: unclear.length, done: done.length, not_done: unclear.length - done.length },
    });
    const checked = await checkCsv(home);
    expect(checked.find((row) => row['_check'] === 'not_as_wanted')).toMatchObject({
      _there: 'is still among the deleted evaluations',
    });
    await run('retry', 'one', '--unclear', '--yes');
    expect(await run('check', 'one')).toMatchObject({ code: 0 });
  });
});

test('a row that was refused because its entry does not exist is told as gone', async () => {
  const home = await newHome(renaming(5), ['--soundboards', '4']);
  await home.run('run', 'rows.csv', ...starting);
  const { code, stdout } = await home.run('check');
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('4 as wanted, 1 gone.\n  row 5, soundboard 5: gone\n'),
  });
});

test('few evaluations among many are read one by one after a few pages', async () => {
  const flags = ['--evaluations', '3000', '--unrecoverable', '0%', '--not-deleted', '90%'];
  const home = await newHome('evaluation_id,user_id\n2998,u\n2999,u\n3000,u\n', flags);
  await home.run('run', 'rows.csv', ...starting);
  const before = (await home.sandbox.log()).length;
  const document = await home.json<CheckDocument>('check');
  expect(document).toMatchObject({ as_wanted: 3, not_as_wanted: 0, gone: 0 });
  const calls = (await home.sandbox.log()).slice(before);
  const count = (operation: string, text: string): number =>
    calls.filter((each) => each.operation === operation && each.body?.includes(text)).length;
  // More pages than evaluations would cost more than a read of each.
  expect(count('list-evaluations', '"is_deleted":false')).toBe(3);
  expect(count('get-evaluation', '')).toBe(3);
});

test('of two edits of an entry, the last one is judged', async () => {
  const home = await newHome('soundboard_id,title\n1,A\n1,B\n2,C\n', ['--soundboards', '3']);
  await home.run('run', 'rows.csv', '--on-conflict', 'in-order', ...starting);
  expect(await home.json<CheckDocument>('check')).toMatchObject({
    as_wanted: 2,
    overtaken: 1,
    as_reported: true,
  });
  expect((await checkCsv(home)).map((row) => row['_check'])).toEqual(['overtaken', 'as_wanted', 'as_wanted']);
  expect(await home.json<object>('show', 'one', '--row', '1')).toMatchObject({
    check: { verdict: 'overtaken', there: '' },
  });
});

test('of a compared run, only the fields that a row changed are judged', async () => {
  const home = await newHome(renaming(3), ['--soundboards', '3']);
  await home.run('run', 'rows.csv', '--compare', ...starting);
  await edit(home.sandbox, 1, { description: 'by another client' });
  await edit(home.sandbox, 2, { title: 'by another client' });
  const document = await home.json<CheckDocument>('check');
  expect(document).toMatchObject({ as_wanted: 2, not_as_wanted: 1, as_reported: false });
  expect((await checkCsv(home)).map((row) => row['_there'])).toEqual([
    '',
    'title is "by another client"',
    '',
  ]);
});

test('after a check that found all unclear rows done, no step is left, and only a retry of all rows calls them', async () => {
  const home = await newHome(renaming(4), ['--soundboards', '4', '--fault', '502-after-commit=100%']);
  const { run, sandbox } = home;
  await run('run', 'rows.csv', ...starting);
  sandbox.configure({ fault: 'none' });
  expect(await run('check')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('4 of 4 unclear rows were done, 0 were not.'),
  });
  expect((await run('report', 'one')).stdout).not.toContain('Next:');
  for (const choice of ['--unclear', '--transient'])
    expect(await run('retry', 'one', choice, '--yes'), choice).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/4 unclear rows are left out: the check at .* needs? no further call/),
    });
  expect(await run('retry', 'one', '--yes', '--run-id', 'two')).toMatchObject({ code: 0 });
  // The entries may have changed by that.
  expect((await run('retry', 'one', '--unclear', '--yes')).stderr).not.toContain('the check at');
});

test.each([
  { lists: 'forbidden', text: 'PERMISSION_SOUNDBOARD_VIEW' },
  { lists: 'missing', text: 'Without a list, nothing can be checked' },
  { lists: 'balancer', text: 'default backend - 404' },
])('a service whose lists are $lists is told, and the last check stays', async ({ lists, text }) => {
  const home = await newHome(renaming(2), ['--soundboards', '2']);
  await home.run('run', 'rows.csv', ...starting);
  await home.run('check');
  const before = await readFile(join(home.folder('one'), 'check.csv'), 'utf8');
  home.sandbox.configure({ lists });
  const { code, stderr } = await home.run('check');
  expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining(text) });
  expect(stderr).not.toContain('--compare');
  expect(await readFile(join(home.folder('one'), 'check.csv'), 'utf8')).toBe(before);
});

const own = `export default ({ defineOperation }) => [defineOperation({ name: 'tag-board', thing: 'board', summary: 's',
  fields: { board: { type: 'integer', required: true } }, subject: 'board', request: ({ board }) => ({
  path: '/api/v1alpha1/org/soundboard/update', body: { soundboard: { soundboard_id: board, title: 'x' } } }),
  interpret: () => ({ ok: true, value: {} }), columns: {}, repeatable: true })];`;

test('what can not be checked is refused before a call', async () => {
  const home = await newHome(renaming(2), ['--soundboards', '2']);
  const { run, start, sandbox, write } = home;
  await write('own.mjs', own);
  await write('own.csv', 'board\n1\n');
  const of = ['--operations', './own.mjs'];
  await run('run', 'own.csv', ...of, '--operation', 'tag-board', '--yes', '--run-id', 'own');
  await run('submit', 'rows.csv', '--yes', '--allow-partial', '--run-id', 'waits');
  await run('run', 'rows.csv', ...starting);
  const calls = (await sandbox.log()).length;
  const refused = async (code: number, text: string, ...args: readonly string[]) =>
    expect(await run('check', ...args)).toMatchObject({ code, stderr: expect.stringContaining(text) });
  await refused(2, "The rows of tag-board can't be checked, because the operation has no list", 'own', ...of);
  await refused(2, 'The operation tag-board is not loaded', 'own');
  await refused(5, 'Run waits is still submitted', 'waits');
  await run('cancel', 'waits', '--yes');
  await refused(2, 'No row of run waits was called, so there is nothing to check.', 'waits');
  await refused(2, 'leave out --base-url', 'one', '--base-url', 'http://127.0.0.1:1');
  expect(await sandbox.log()).toHaveLength(calls);
  await write('slow.csv', renaming(2).replaceAll('New', 'Newer'));
  const slow = start('run', 'slow.csv', '--yes', '--allow-partial', '--run-id', 'slow', '--rate', '1/60s');
  await sandbox.requested(calls + 1);
  await refused(5, 'Run slow is still running', 'slow');
  slow.kill('SIGTERM');
  await slow.end;
});

/** The files of a report that a check leaves alone, and the page. */
async function textsOf(folder: string) {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const [report, summary, html] = await Promise.all(['report.csv', 'summary.json', 'report.html'].map(read));
  return { report, summary, html: html ?? '' };
}

/** The page without its parts about the check and the next steps, and without these in its data. */
function withoutCheck(html: string): string {
  return html
    .replace(/<section aria-label="(?:Check|What to do next)">.*?<\/section>/gs, '')
    .replace(/,"steps":\[.*?\](?=,"operations")/s, '')
    .replace(/\d\. (?:Check|Retry).*\n/g, '')
    .replace(/,"check":\{.*?\]\}(?=\},"portions")/s, '');
}
