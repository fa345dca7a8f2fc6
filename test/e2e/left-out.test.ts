import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { newHome } from './home.ts';
import { cell } from './manifests.ts';

/** A service that resets fields which an update leaves out, and a user who accepts no such row in advance. */
function scene() {
  return newHome(0, ['--updates', 'replace'], { ...anyDatastore(), CQBATCH_ALLOW_PARTIAL: '' });
}

const because =
  'fields out, and the API may reset what a request leaves out: give all fields, pass --compare if the service lists its entries, or pass ';

test('each run whose rows leave fields out needs --allow-partial; its resume, retry and undo need no other', async () => {
  const { sandbox, run, json, write } = await scene();
  await write(
    'rows.csv',
    `soundboard_id,title,old_title\n1,A,${cell(sandbox.soundboard(1)?.title)}\n999,B,\n`,
  );
  const refused = {
    code: 2,
    stderr: expect.stringContaining(
      `error: Not ready: 2 rows leave ${because}--allow-partial. Nothing was sent.`,
    ),
  };
  expect(await run('run', 'rows.csv', '--yes')).toMatchObject(refused);
  expect(await sandbox.log()).toEqual([]);

  const start = ['run', 'rows.csv', '--yes', '--allow-partial', '--run-id', 'r', '--max-rows', '1'];
  expect(await run(...start)).toMatchObject({ code: 6 });
  // The row of an unknown entry fails, here and in the retry.
  expect(await run('resume', 'r')).toMatchObject({ code: 1 });
  expect(await run('retry', 'r', '--yes')).toMatchObject({ code: 1 });
  expect(await run('undo', 'r', '--yes')).toMatchObject({ code: 0 });
  expect((await sandbox.log()).map(({ id }) => id)).toEqual(['1', '999', '999', '1']);

  expect(await run('run', 'rows.csv', '--yes')).toMatchObject(refused);
  expect(await json('plan', 'rows.csv')).toMatchObject({
    ready: false,
    warnings: [{ code: 'FIELDS_LEFT_OUT' }],
  });
});

test('an undo needs --allow-partial if it leaves out fields that its run has sent', async () => {
  const { sandbox, run, write } = await scene();
  const entry = sandbox.soundboard(1);
  const names = [
    'file_name',
    'file_type',
    'date_created',
    'last_modified',
    'file_size',
    'recording_length',
  ] as const;
  const others = names.map((name) => cell(entry?.[name]));
  const header = ['soundboard_id', ...names, 'title', 'description', 'old_title'];
  await write('full.csv', [header, [1, ...others, 'A', 'a', cell(entry?.title)], ''].join('\n'));
  expect(await run('run', 'full.csv', '--yes', '--run-id', 'full')).toMatchObject({ code: 0 });
  expect(await run('undo', 'full', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`1 row leaves ${because}--allow-partial. Nothing was sent.`),
  });
  expect(sandbox.soundboard(1)).toMatchObject({ title: 'A', description: 'a' });
  expect(await run('undo', 'full', '--yes', '--allow-partial')).toMatchObject({ code: 0 });
  expect(sandbox.soundboard(1)).toMatchObject({ title: entry?.title, description: '' });
});
