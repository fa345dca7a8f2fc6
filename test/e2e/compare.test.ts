import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sheetOf } from '../fixtures/workbooks/dialects.ts';
import { zipped } from '../fixtures/workbooks/zip.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { asUsersHaveIt } from '../helpers/cqbatch.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { shapes } from '../helpers/sandbox.ts';
import { newHome } from './home.ts';
import { calledIds, changingCalls, editElsewhere, entries, withChanges } from './soundboards.ts';

/** A service that resets what an update leaves out, for users who permit nothing. */
const comparing = (...flags: readonly string[]) =>
  newHome(0, ['--soundboards', '60', '--updates', 'replace', ...flags], {
    ...asUsersHaveIt,
    ...anyDatastore(),
  });

/** Rows for entries that the sandbox has, as it has them, that it does not have, and that can't be restored. */
const mixed = [
  'operation,soundboard_id,title,old_title,evaluation_id,user_id,last_modified',
  'update-soundboard,1,Greeting,Recording 1,,,',
  'update-soundboard,2,Recording 2,,,,',
  'update-soundboard,999,Greeting,,,,',
  'update-soundboard,3,Greeting,Recording 33,,,',
  'update-soundboard,4,Greeting,,,,2020-01-01T00:00:00Z',
  'restore-evaluation,,,,7,u,',
  'restore-evaluation,,,,70,u,',
  'restore-evaluation,,,,50,u,',
  '',
].join('\n');

const notDeleted =
  'is not deleted (perhaps restored already; by whom and when is not known), or does not exist';

describe.each(shapes)('with --compare, at a service in the shape %s', (shape) => {
  // Connect leaves out zero values, so that false is not told from unknown.
  const saysFalse = shape !== 'connect';

  test('a plan shows what changes, and says under which column what does not fit', async () => {
    const { sandbox, ...home } = await comparing('--shape', shape);
    await home.write('rows.csv', mixed);
    const before = entries(sandbox);
    const refused = await home.run('plan', 'rows.csv', '--compare');
    expect(refused.code).toBe(2);
    for (const pattern of [
      /^ +1 +soundboard 1 +title +"Recording 1" → "Greeting"$/m,
      /^ +5 +soundboard 4 +title +"Recording 4" → "Greeting"$/m,
    ])
      expect(refused.stdout).toMatch(pattern);
    for (const text of [
      '1 row changes nothing and is left out',
      'last_modified of 1 row (first: row 5, line 6) is not what is there, and is not sent: the service sets it itself',
      'rows.csv:4: row 3, soundboard_id: does not exist (999)',
      'rows.csv:5: row 4, old_title: the entry is different: title is "Recording 3" now; look at the entry, then correct or remove this cell (Recording 33)',
      `rows.csv:8: row 7, evaluation_id: ${notDeleted} (70)`,
    ])
      expect(refused.stdout).toContain(text);
    if (saysFalse)
      expect(refused.stdout).toContain('rows.csv:9: row 8, evaluation_id: is not recoverable (50)');
    expect(await home.json('plan', 'rows.csv', '--compare', '--skip-invalid')).toMatchObject({
      ready: true,
      rows: 8,
      callable: saysFalse ? 3 : 4,
      invalid: saysFalse ? 4 : 3,
      as_wanted: 1,
      partial: 0,
      compared: {
        fields: 2,
        lists: [
          { list: 'soundboards', listed: 60 },
          { list: 'deleted-evaluations', listed: 990 },
        ],
      },
    });
    const log = await sandbox.log();
    expect(new Set(log.map(({ operation }) => operation))).toEqual(
      new Set(['list-soundboards', 'list-evaluations']),
    );
    expect(entries(sandbox)).toEqual(before);
  });

  test('a run sends whole entries, resets nothing, and reports what was left out', async () => {
    const { sandbox, ...home } = await comparing('--shape', shape, '--unrecoverable', '0%');
    await home.write('rows.csv', mixed);
    const before = entries(sandbox);
    const run = ['run', 'rows.csv', '--compare', '--skip-invalid', '--yes', '--run-id', 'r'];
    // Of the invalid rows.
    expect(await home.run(...run)).toMatchObject({ code: 1 });
    expect(entries(sandbox)).toEqual(
      withChanges(before, { 1: { title: 'Greeting' }, 4: { title: 'Greeting' } }),
    );
    const report = await home.report('r');
    expect(report.map(({ _row, _outcome, _code }) => `${_row} ${_outcome} ${_code}`)).toEqual([
      '1 succeeded OK',
      '2 skipped AS_WANTED',
      '3 invalid INVALID_ROW',
      '4 invalid INVALID_ROW',
      '5 succeeded OK',
      '6 succeeded OK',
      '7 invalid INVALID_ROW',
      '8 succeeded OK',
    ]);
    expect((await calledIds(sandbox)).toSorted()).toEqual(['1', '4', '50', '7']);
  });

  test('what another client changes between plan and run is not called, and a retry compares it again', async () => {
    const { sandbox, ...home } = await comparing('--shape', shape);
    await home.write('rows.csv', 'soundboard_id,title\n1,A\n2,B\n3,C\n4,D\n');
    const planned = await home.run('plan', 'rows.csv', '--compare', '--out', 'week.cqplan');
    expect(planned).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /Read 60 soundboards\. Nothing was changed\. Next: cqbatch run week\.cqplan --sha256 /,
      ),
    });
    await editElsewhere(sandbox, 1, { description: 'Theirs' });
    await editElsewhere(sandbox, 2, { title: 'Their title' });
    await editElsewhere(sandbox, 3, { title: 'C' });
    const after = entries(sandbox);
    expect(await home.run('run', 'week.cqplan', '--run-id', 'r')).toMatchObject({ code: 1 });
    // What is as wanted by now may be called: it changes nothing.
    expect((await calledIds(sandbox)).toSorted()).toEqual(['3', '4']);
    const wanted = { 3: { title: 'C' }, 4: { title: 'D' } };
    expect(entries(sandbox)).toEqual(withChanges(after, wanted));
    const results = (await home.report('r')).map(({ _row, _code, _attempts, _message }) => [
      ...[_row, _code, _attempts],
      _message?.replace(/^.*: /, ''),
    ]);
    expect(results).toEqual([
      [
        '1',
        'CHANGED_SINCE',
        '0',
        expect.stringMatching(/^description was "Played .*", and is "Theirs" now$/),
      ],
      ['2', 'CHANGED_SINCE', '0', 'title was "Recording 2", and is "Their title" now'],
      ['3', 'OK', '1', ''],
      ['4', 'OK', '1', ''],
    ]);

    const retried = await home.run('retry', 'r', '--code', 'CHANGED_SINCE', '--yes');
    expect(retried).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'rows.csv:3: row 2: the entry is different: title is "Their title" now; look at the entry; to overwrite it, run the row again from failed.csv',
      ),
    });
    expect(
      await home.run('retry', 'r', '--code', 'CHANGED_SINCE', '--yes', '--skip-invalid', '--run-id', 's'),
    ).toMatchObject({ code: 1 });
    expect(entries(sandbox)).toEqual(withChanges(after, { ...wanted, 1: { title: 'A' } }));
    expect((await changingCalls(sandbox)).map(({ id }) => id).at(-1)).toBe('1');
  });
});

test('a problem of a compared row in a workbook names the cell', async () => {
  const home = await comparing();
  const text = (cell: string, value: string) => `<c r="${cell}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const rows = [
    `<row r="1">${text('A1', 'soundboard_id')}${text('B1', 'title')}${text('C1', 'Old title')}</row>`,
    `<row r="2">${text('A2', '999')}${text('B2', 'x')}</row>`,
    `<row r="3">${text('A3', '5')}${text('B3', 'x')}${text('C3', 'y')}</row>`,
  ].join('');
  await writeFile(join(home.cwd, 'rows.xlsx'), zipped(sheetOf(rows)));
  const { code, stdout } = await home.run('plan', 'rows.xlsx', '--compare');
  expect(code).toBe(2);
  expect(stdout).toContain('rows.xlsx:A2: row 1, soundboard_id: does not exist (999)');
  expect(stdout).toContain(
    'rows.xlsx:C3: row 2, Old title: the entry is different: title is "Recording 5" now',
  );
});

test('all changes of a plan are in a file, field by field', async () => {
  const home = await comparing();
  const lines = Array.from({ length: 12 }, (_, row) => `${row + 1},"T, ${row}",D`);
  await home.write('rows.csv', `soundboard_id,title,description\n${lines.join('\n')}\n`);
  const { compared } = await home.json<{ compared: { fields: number; first: unknown[]; file: string } }>(
    'plan',
    'rows.csv',
    '--compare',
  );
  expect(compared).toMatchObject({ fields: 24, first: { length: 10 } });
  const changes = await readCsv(home.cwd, compared.file);
  expect(changes).toHaveLength(24);
  const last = { _row: '12', operation: 'update-soundboard', id: '12' };
  expect(changes.slice(22)).toEqual([
    { ...last, field: 'title', old: 'Recording 12', new: 'T, 11' },
    { ...last, field: 'description', old: entries(home.sandbox)[11]?.['description'], new: 'D' },
  ]);
});

test('rows that change nothing at all need a word', async () => {
  const { sandbox, ...home } = await comparing();
  await home.write('rows.csv', 'soundboard_id,title\n1,Recording 1\n2,Recording 2\n');
  const run = ['run', 'rows.csv', '--compare', '--yes', '--run-id', 'r'];
  expect(await home.run(...run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'rows.csv has nothing to call. 2 rows change nothing: their entries are so already. If that is right, pass --allow-empty. Read 60 soundboards. Nothing was changed.',
    ),
  });
  expect(await home.run(...run, '--allow-empty')).toMatchObject({ code: 0 });
  expect((await home.report('r')).map(({ _code }) => _code)).toEqual(['AS_WANTED', 'AS_WANTED']);
  expect(await changingCalls(sandbox)).toEqual([]);
});

test('of the rows of an entry the last one is compared and called, if the user says so', async () => {
  const { sandbox, ...home } = await comparing();
  const before = entries(sandbox);
  await home.write(
    'rows.csv',
    'soundboard_id,title,description\n1,A,\n2,B,\n1,C,\n2,Recording 2,\n3,D,\n3,D,\n',
  );
  const run = ['run', 'rows.csv', '--compare', '--yes', '--run-id', 'r'];
  expect(await home.run(...run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('conflict with earlier rows'),
  });
  expect(await home.run(...run, '--on-conflict', 'in-order')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('compare and on_conflict in-order exclude each other'),
  });
  expect(await sandbox.log()).toHaveLength(1);
  expect(await home.run(...run, '--on-conflict', 'last')).toMatchObject({ code: 0 });
  const wanted = { 1: { title: 'C' }, 3: { title: 'D' } };
  expect(entries(sandbox)).toEqual(withChanges(before, wanted));
});

test.each([
  { lists: 'forbidden', text: 'The API does not let you list soundboards' },
  { lists: 'missing', text: 'This service does not list soundboards' },
  { lists: 'balancer', text: 'default backend - 404' },
])('at a service whose lists are $lists, nothing is sent', async ({ lists, text }) => {
  const { sandbox, ...home } = await comparing('--lists', lists);
  await home.write('rows.csv', 'soundboard_id,title\n1,A\n');
  const told = { code: 4, stderr: expect.stringContaining(text) };
  expect(await home.run('plan', 'rows.csv', '--compare')).toMatchObject(told);
  expect(await home.run('run', 'rows.csv', '--compare', '--yes')).toMatchObject(told);
  sandbox.configure({ lists: 'served' });
  await home.run('plan', 'rows.csv', '--compare', '--out', 'week.cqplan');
  sandbox.configure({ lists });
  const late = await home.run('run', 'week.cqplan', '--run-id', 'r');
  expect(late).toMatchObject(told);
  expect(await changingCalls(sandbox)).toEqual([]);
  sandbox.configure({ lists: 'served' });
  expect(await home.run('resume', 'r')).toMatchObject({ code: 0 });
  expect(await calledIds(sandbox)).toEqual(['1']);
});

test('a setting compares the rows of each command, and a variable turns it off', async () => {
  const { sandbox, ...home } = await comparing();
  const before = entries(sandbox);
  await home.write('rows.csv', 'soundboard_id,title\n1,A\n');
  expect(await home.run('plan', 'rows.csv')).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('pass --allow-partial'),
  });
  await home.run('init');
  const config = join(home.stateDir, 'config.json');
  const settings = JSON.parse(await readFile(config, 'utf8').catch(() => '{}'));
  await writeFile(config, JSON.stringify({ ...settings, compare: true }));
  expect(await home.run('run', 'rows.csv', '--yes', '--run-id', 'r')).toMatchObject({ code: 0 });
  expect(entries(sandbox)).toEqual(withChanges(before, { 1: { title: 'A' } }));
  expect(await home.runWith({ CQBATCH_COMPARE: 'false' }, 'plan', 'rows.csv')).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('pass --allow-partial'),
  });
});
