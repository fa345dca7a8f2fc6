import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { shapes, startSandbox } from '../helpers/sandbox.ts';
import { newMachine } from './redis/machine.ts';
import { cell, describeUndo, entries, type NewScene } from './undo.conformance.ts';

describe.each(shapes)('undo with the shape %s', (shape) => {
  const newScene: NewScene = async (...sandboxArgs) => {
    const sandbox = await startSandbox('--shape', shape, ...sandboxArgs);
    const place = { redis: { url: '' } as RedisServer, sandbox, prefix: 'none', env: anyDatastore() };
    return { home: await newMachine(place), sandbox, flags: [] };
  };

  describeUndo(newScene);

  test('lists the rows that it cannot put back, and sends nothing for restores', async () => {
    const { home, sandbox, flags } = await newScene('--soundboards', '9', '--evaluations', '9');
    const before = entries(sandbox);
    const rows = [
      { operation: 'update-soundboard', soundboard_id: 1, title: 'a', old_title: before[0]?.['title'] },
      {
        operation: 'update-soundboard',
        soundboard_id: 2,
        title: 'a',
        description: 'b',
        old_title: before[1]?.['title'],
      },
      { operation: 'update-soundboard', soundboard_id: 3, title: 'a' },
      { operation: 'update-soundboard', soundboard_id: 999, title: 'a', old_title: 'never there' },
      { operation: 'restore-evaluation', evaluation_id: 5, user_id: 'u' },
    ];
    await home.write('mixed.jsonl', `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
    const start = ['--yes', '--allow-partial', '--max-failures', 'none', ...flags];
    await home.run('run', 'mixed.jsonl', '--run-id', 'mixed', ...start);
    const requests = (await sandbox.log()).length;
    const undone = await home.run('undo', 'mixed', '--yes', ...flags);
    expect(undone).toMatchObject({ code: 0 });
    expect(undone.stderr).toContain('2 rows get their old values back');
    expect((await sandbox.log()).slice(requests).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['1', '2']),
    );
    expect((await sandbox.log()).length).toBe(requests + 2);
    const now = entries(sandbox);
    expect(now[0]).toEqual(before[0]);
    expect(now[1]).toEqual({ ...before[1], description: 'b' });
    const folder = home.folder('mixed');
    expect(await readCsv(folder, 'not-undone.csv')).toMatchObject([
      {
        _row: '2',
        id: '2',
        fields: 'description',
        why: 'no old values for these fields; the others are restored',
      },
      { _row: '3', id: '3', fields: 'title', why: 'no old values' },
    ]);
    expect(await readCsv(folder, 'undo-by-hand.csv')).toEqual([
      { _row: '5', operation: 'restore-evaluation', id: '5', unclear: '' },
    ]);

    await home.write('restores.csv', 'evaluation_id,user_id\n6,u\n');
    await home.run('run', 'restores.csv', '--run-id', 'restores', ...start);
    const only = await home.run('undo', 'restores', '--yes', ...flags);
    expect(only).toMatchObject({ code: 0 });
    expect(only.stdout).toContain(join('runs', 'restores', 'undo-by-hand.csv'));
    expect(only.stdout).toContain('Nothing was sent.');
    expect(await readFile(join(home.folder('restores'), 'undo-by-hand.csv'), 'utf8')).toContain(',6,');
  });

  test('warns of later edits by other runs, and refuses an unfinished run', async () => {
    const { home, sandbox, flags } = await newScene('--soundboards', '9', '--latency', '10ms');
    const [first] = entries(sandbox);
    const start = ['--yes', '--allow-partial', ...flags];
    await home.write('one.csv', `soundboard_id,title,old_title\n1,a,${cell(first?.['title'])}\n`);
    await home.write('two.csv', 'soundboard_id,title,old_title\n1,b,a\n2,b,\n');
    await home.run('run', 'one.csv', '--run-id', 'one', ...start);
    await home.run('run', 'two.csv', '--run-id', 'two', ...start);
    const undone = await home.run('undo', 'one', '--yes', '--run-id', 'back', ...flags);
    expect(undone).toMatchObject({ code: 0 });
    expect(undone.stderr).toMatch(/run two has edited some of these entries since \(1 row\)/);
    expect(entries(sandbox)[0]).toEqual(first);
    const nothing = await home.run('undo', 'two', '--yes', ...flags);
    expect(nothing.stderr).toContain('run back has edited');

    await home.write(
      'many.csv',
      `soundboard_id,title\n${Array.from({ length: 99 }, (_, id) => `${id + 1},x\n`).join('')}`,
    );
    const long = home.start('run', 'many.csv', '--run-id', 'long', '--rate', '1/s', ...start);
    await sandbox.requested((await sandbox.log()).length + 1);
    expect(await home.run('undo', 'long', '--yes', ...flags)).toMatchObject({ code: 5 });
    long.kill('SIGINT');
    await long.end;
    const refused = await home.run('undo', 'long', '--yes', ...flags);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('cancel it first ("cqbatch cancel long")');
    await home.run('cancel', 'long', '--yes');
    const unknown = await home.run('undo', 'long', '--yes', ...flags);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain("its rows don't have the old values");
  });
});
