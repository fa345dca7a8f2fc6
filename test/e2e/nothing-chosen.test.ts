import { expect, test } from 'vitest';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { newHome } from './home.ts';

const csv = 'evaluation_id,user_id,deleted_by\n1,u,u-17\n50,u,u-17\n2,u,u-3\n';

test.each([
  [
    'a condition that no row meets',
    ['rows.csv', '--where', 'deleted_by=U-17'],
    'deleted_by has u-17 (2), u-3 (1)',
  ],
  ['a manifest without rows', ['header.csv'], 'header.csv has nothing to call. It has no rows.'],
])('a run without a call is an error until the user allows it: %s', async (_title, args, message) => {
  const { cwd, sandbox, run, write } = await newHome(csv);
  await write('header.csv', 'evaluation_id,user_id\n');
  const plan = await run('plan', ...args, '--json');
  expect(plan.code).toBe(2);
  expect(JSON.parse(plan.stdout)).toMatchObject({
    ready: false,
    callable: 0,
    warnings: [{ code: 'NOTHING_TO_CALL', message: expect.stringContaining(message) }],
  });
  const refused = await run('run', ...args, '--yes');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(message);
  expect(refused.stderr).toContain('If that is right, pass --allow-empty. Nothing was sent.');
  const allowed = await run('run', ...args, '--yes', '--allow-empty');
  expect(allowed.code).toBe(0);
  expect(await readSummary(await newestRunFolder(cwd))).toMatchObject({ state: 'completed' });
  expect(await readCsv(await newestRunFolder(cwd), 'report.csv')).toEqual([]);
  expect(await sandbox.log()).toEqual([]);
});
