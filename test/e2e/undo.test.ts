import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCsv } from '../helpers/run-folder.ts';
import { shapes } from '../helpers/sandbox.ts';
import { newHome } from './home.ts';
import { cell } from './manifests.ts';
import { calledSince } from './redis/kill-matrix.ts';
import { type Entry, entries } from './soundboards.ts';

/** Renames the first entries, with what they were called before. */
function renaming(before: readonly Entry[], rows: number): string {
  const lines = before.slice(0, rows).map((entry, index) => {
    // Some rows leave a field out, or say only a part of what was before.
    const isBrief = index % 3 === 0;
    return [
      ...[entry['soundboard_id'], `"Titel, ""${index}"" ü"`, isBrief ? '' : `text ${index}`, 7 + index],
      ...[cell(entry['title']), isBrief ? '' : cell(entry['description']), cell(entry['file_size'])],
    ].join(',');
  });
  const fields = 'soundboard_id,title,description,file_size';
  return [`${fields},Old title,oldDescription,OLD FILE SIZE`, ...lines, ''].join('\n');
}

test.each(shapes)(
  'undo with the shape %s puts back the former values, even after lost answers',
  async (shape) => {
    const faulty = ['--shape', shape, '--soundboards', '60', '--fault', '502-after-commit=20%'];
    const { sandbox, ...home } = await newHome(0, faulty);
    const before = entries(sandbox);
    await home.write('boards.csv', renaming(before, 50));
    const start = ['--yes', '--allow-partial', '--max-failures', 'none'];
    await home.run('run', 'boards.csv', '--run-id', 'a', '--attempts', '1', ...start);
    const report = await home.report('a');
    const lost = report.filter((row) => row['_outcome'] === 'failed');
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.every((row) => row['_unclear'] === 'yes')).toBe(true);
    expect(entries(sandbox)).not.toEqual(before);

    sandbox.configure({ fault: 'none' });
    const changed = entries(sandbox);
    expect(await home.run('undo', '--plan')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('50 calls: update 50 soundboards '),
    });
    expect(entries(sandbox)).toEqual(changed);
    expect(await home.run('undo', '--yes', '--run-id', 'back')).toMatchObject({ code: 0 });
    expect(entries(sandbox)).toEqual(before);
    expect(await home.json('show', 'a')).toMatchObject({ undone_by: [{ run: 'back', state: 'completed' }] });

    // An undo can be undone, too; without a name, neither is taken again.
    expect(await home.run('undo', '--yes')).toMatchObject({ code: 2 });
    expect(await home.run('undo', 'back', '--yes')).toMatchObject({ code: 0 });
    const again = entries(sandbox);
    expect(again.slice(0, 50).map(({ title }) => title)).toEqual(report.map(({ title }) => title));
  },
);

test('undo lists the rows that it cannot put back, and sends nothing for restores', async () => {
  const { sandbox, ...home } = await newHome(0, ['--soundboards', '9', '--evaluations', '9']);
  const before = entries(sandbox);
  const lines = [
    'operation,soundboard_id,title,description,old_title,evaluation_id,user_id',
    `update-soundboard,1,a,b,${cell(before[0]?.['title'])},,`,
    'update-soundboard,2,a,,,,',
    'update-soundboard,999,a,,never there,,',
    'restore-evaluation,,,,,5,u',
  ];
  await home.write('mixed.csv', `${lines.join('\n')}\n`);
  const start = ['--yes', '--allow-partial', '--max-failures', 'none'];
  await home.run('run', 'mixed.csv', '--run-id', 'mixed', ...start);
  const requests = (await sandbox.log()).length;
  expect(await home.run('undo', 'mixed', '--yes')).toMatchObject({ code: 0 });
  expect((await sandbox.log()).slice(requests).map(({ id }) => id)).toEqual(['1']);
  expect(entries(sandbox)[0]).toEqual({ ...before[0], description: 'b' });
  const folder = home.folder('mixed');
  expect(await readCsv(folder, 'not-undone.csv')).toMatchObject([
    { _row: '1', fields: 'description', why: 'no old values for these fields; the others are restored' },
    { _row: '2', id: '2', fields: 'title', why: 'no old values' },
  ]);
  expect(await readCsv(folder, 'undo-by-hand.csv')).toEqual([
    { _row: '4', operation: 'restore-evaluation', id: '5', unclear: '' },
  ]);

  await home.write('restores.csv', 'evaluation_id,user_id\n6,u\n');
  await home.run('run', 'restores.csv', '--run-id', 'restores', ...start);
  expect(await home.run('undo', 'restores', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(join('runs', 'restores', 'undo-by-hand.csv')),
  });
});

test('undo warns of later edits by other runs, and refuses an unfinished run', async () => {
  const { sandbox, ...home } = await newHome(0, ['--soundboards', '9', '--latency', '10ms']);
  const [first] = entries(sandbox);
  const start = ['--yes', '--allow-partial'];
  await home.write('one.csv', `soundboard_id,title,old_title\n1,a,${cell(first?.['title'])}\n`);
  await home.write('two.csv', 'soundboard_id,title,old_title\n1,b,a\n2,b,\n');
  await home.run('run', 'one.csv', '--run-id', 'one', ...start);
  await home.run('run', 'two.csv', '--run-id', 'two', ...start);
  await home.run('run', 'two.csv', '--run-id', 'damaged', ...start);
  await truncate(join(home.folder('damaged'), 'rows.jsonl'), 9);
  const undone = await home.run('undo', 'one', '--yes', '--run-id', 'back');
  expect(undone).toMatchObject({ code: 0 });
  expect(undone.stderr).toMatch(/run two has edited some of these entries since \(1 row\)/);
  expect(undone.stderr).toContain('not known which of these entries run damaged has edited since: ');
  expect(entries(sandbox)[0]).toEqual(first);

  await home.write(
    'many.csv',
    `soundboard_id,title\n${Array.from({ length: 99 }, (_, id) => `${id + 1},x\n`).join('')}`,
  );
  const long = home.start('run', 'many.csv', '--run-id', 'long', '--rate', '1/s', ...start);
  await calledSince({ sandbox }, 1);
  expect(await home.run('undo', 'long', '--yes')).toMatchObject({ code: 5 });
  // That it must be cancelled first when it was stopped: remedies.test.ts.
  await home.run('cancel', 'long', '--yes');
  await long.end;
  expect(await home.run('undo', 'long', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("its rows don't have the old values"),
  });
});
