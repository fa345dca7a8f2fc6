import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt } from '../helpers/cqbatch.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { shapes } from '../helpers/sandbox.ts';
import { newHome } from './home.ts';
import { calledIds, changingCalls, editElsewhere, entries, renamedCsv, withChanges } from './soundboards.ts';

/** A service that resets what an update leaves out, and a manifest without old values. */
async function compared(...flags: readonly string[]) {
  const { sandbox, ...home } = await newHome(
    'soundboard_id,title,description\n1,A,\n2,B,Text\n3,Recording 3,\n4,,<clear>\n6,F,\n',
    ['--soundboards', '9', '--updates', 'replace', ...flags],
    { ...asUsersHaveIt, ...anyDatastore() },
  );
  const before = entries(sandbox);
  const run = ['run', 'rows.csv', '--compare', '--yes', '--run-id', 'r'];
  expect(await home.run(...run)).toMatchObject({ code: 0 });
  const wanted = {
    1: { title: 'A' },
    2: { title: 'B', description: 'Text' },
    4: { description: '' },
    6: { title: 'F' },
  };
  expect(entries(sandbox)).toEqual(withChanges(before, wanted));
  return { ...home, sandbox, before };
}

describe.each(shapes)('a compared run at a service in the shape %s', (shape) => {
  test('is undone as it was, though its manifest has no old values, and so is its undo', async () => {
    const { sandbox, before, ...home } = await compared('--shape', shape);
    const after = entries(sandbox);
    const plan = await home.run('undo', '--plan');
    expect(plan).toMatchObject({ code: 0, stderr: expect.stringContaining('Read 9 soundboards.') });
    expect(plan.stdout).toMatch(/^ +1 +1 +title +"A" → "Recording 1"$/m);
    expect(entries(sandbox)).toEqual(after);
    expect(await home.run('undo', '--yes', '--run-id', 'back')).toMatchObject({ code: 0 });
    expect(entries(sandbox)).toEqual(before);
    expect((await calledIds(sandbox)).slice(4).toSorted()).toEqual(['1', '2', '4', '6']);
    expect(await home.run('undo', 'back', '--yes')).toMatchObject({ code: 0 });
    expect(entries(sandbox)).toEqual(after);
  });
});

test('is undone and retried by plan files, which are made of what was compared', async () => {
  const { sandbox, before, ...home } = await compared();
  const undo = await home.run('undo', '--plan', '--out', 'undo.cqplan');
  expect(undo).toMatchObject({ code: 0 });
  // The command is typed as the plan prints it.
  const [, next = ''] = /Next: cqbatch (run undo\.cqplan --sha256 \w+)/.exec(undo.stderr + undo.stdout) ?? [];
  expect(await home.run(...next.split(' '), '--yes')).toMatchObject({ code: 0 });
  expect(entries(sandbox)).toEqual(before);

  await home.write('names.csv', renamedCsv(9));
  sandbox.configure({ fault: '500=40%' });
  const trying = ['--compare', '--yes', '--run-id', 'names', '--attempts', '1', '--max-failures', 'none'];
  expect(await home.run('run', 'names.csv', ...trying)).toMatchObject({ code: 1 });
  sandbox.configure({ fault: 'none' });
  expect(await home.run('retry', 'names', '--plan', '--out', 'retry.cqplan')).toMatchObject({ code: 0 });
  expect(await home.run('run', 'retry.cqplan', '--yes')).toMatchObject({ code: 0 });
  const titles = Array.from({ length: 9 }, (_, at) => [at + 1, { title: `New ${at + 1}` }]);
  expect(entries(sandbox)).toEqual(withChanges(before, Object.fromEntries(titles)));
});

test('entries that another client has changed since are put back only with --overwrite', async () => {
  const { sandbox, before, ...home } = await compared();
  await editElsewhere(sandbox, 1, { title: 'Theirs', file_size: 7 });
  await editElsewhere(sandbox, 2, { file_name: 'theirs.wav' });
  // A field that was empty, which the list may leave out.
  expect(before[5]).toMatchObject({ description: '' });
  await editElsewhere(sandbox, 6, { description: 'Theirs' });
  const after = entries(sandbox);
  expect(await home.run('undo', 'r', '--yes', '--run-id', 'back')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/3 rows are not undone, .*not-undone\.csv says why/),
  });
  expect((await calledIds(sandbox)).slice(4)).toEqual(['4']);
  const back = withChanges(after, { 4: before[3] ?? {} });
  expect(entries(sandbox)).toEqual(back);
  const notUndone = await readCsv(home.folder('r'), 'not-undone.csv');
  expect(notUndone.map(({ id, fields }) => [id, fields])).toEqual([
    ['1', 'title file_size'],
    ['2', 'file_name'],
    ['6', 'description'],
  ]);
  expect(notUndone[0]?.['why']).toBe(
    'changed since the run: title is "Theirs" now; file_size is "7" now (--overwrite puts back only what the run changed: title)',
  );
  // What the run has not changed stays as the other client left it.
  expect(await home.run('undo', 'r', '--yes', '--overwrite')).toMatchObject({ code: 0 });
  const titles = {
    1: { title: 'Recording 1' },
    2: { title: 'Recording 2', description: before[1]?.['description'] },
    6: { title: before[5]?.['title'] },
  };
  expect(entries(sandbox)).toEqual(withChanges(back, titles));
  expect((await calledIds(sandbox)).slice(5).toSorted()).toEqual(['1', '2', '6']);
});

test('an undo of which nothing may be put back sends nothing, and says what to type', async () => {
  const { sandbox, ...home } = await compared();
  for (const id of [1, 2, 4, 6]) await editElsewhere(sandbox, id, { title: 'Theirs', description: 'Theirs' });
  const after = entries(sandbox);
  const calls = await changingCalls(sandbox);
  const { code, stderr } = await home.run('undo', 'r', '--yes');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--overwrite') });
  expect(stderr).not.toContain('columns old_title');
  expect(await changingCalls(sandbox)).toEqual(calls);
  expect(entries(sandbox)).toEqual(after);
});

test('an undo of what is as it was already sends nothing, and says so', async () => {
  const { sandbox, before, ...home } = await compared();
  for (const id of [1, 2, 4, 6]) await editElsewhere(sandbox, id, before[id - 1] ?? {});
  const calls = await changingCalls(sandbox);
  expect(await home.run('undo', 'r', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('4 rows change nothing: their entries are so already.'),
  });
  expect(await changingCalls(sandbox)).toEqual(calls);
});

test('without a comparison, the undo of a compared run sends what the run has kept', async () => {
  const { sandbox, before, ...home } = await compared();
  const reads = (await sandbox.log()).filter(({ operation }) => operation === 'list-soundboards').length;
  const blind = ['undo', 'r', '--yes'];
  expect(await home.runWith({ CQBATCH_COMPARE: 'false' }, ...blind)).toMatchObject({
    code: 2,
    // The list may have left out what was empty.
    stderr: expect.stringContaining(
      'give all fields, pass --compare if the service lists its entries, or pass --allow-partial',
    ),
  });
  const words = [...blind, '--allow-partial'];
  expect(await home.runWith({ CQBATCH_COMPARE: 'false' }, ...words)).toMatchObject({ code: 0 });
  expect(entries(sandbox)).toEqual(before);
  const log = await sandbox.log();
  expect(log.filter(({ operation }) => operation === 'list-soundboards')).toHaveLength(reads);
});

test('of an exported workbook, only the edited cells are sent, and an undo puts each entry back', async () => {
  const sandbox = ['--soundboards', '200', '--updates', 'replace'];
  const { sandbox: service, ...home } = await newHome('', sandbox, { ...asUsersHaveIt, ...anyDatastore() });
  const before = entries(service);
  expect(await home.run('export', 'soundboards', '--out', 'all.xlsx')).toMatchObject({ code: 0 });
  const { sheets } = await readXlsx(await readFile(join(home.cwd, 'all.xlsx')));
  const [[header = [], ...rows] = []] = sheets.map((sheet) => sheet.rows);
  const title = header.indexOf('title');
  for (const row of rows.slice(40, 70)) row[title] = `${row[title]} (new)`;
  const columns = header.map((name) => ({ header: String(name), key: String(name) }));
  const data = rows.map((row) =>
    Object.fromEntries(header.map((name, at) => [String(name), row[at] ?? null])),
  );
  await writeFile(
    join(home.cwd, 'edited.xlsx'),
    await writeXlsx({ sheets: [{ name: 'all', columns, data }] }),
  );
  const run = ['run', 'edited.xlsx', '--compare', '--yes', '--run-id', 'r'];
  expect(await home.run(...run)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      '30 fields of 30 entries change; 170 rows change nothing and are left out',
    ),
  });
  const renamed = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [at + 41, { title: `Recording ${at + 41} (new)` }]),
  );
  expect(entries(service)).toEqual(withChanges(before, renamed));
  expect(await home.run('undo', '--yes')).toMatchObject({ code: 0 });
  expect(entries(service)).toEqual(before);
});
