import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const csv = 'evaluation_id,user_id,deleted_by\n1,u,u-17\n50,u,u-17\n2,u,u-3\n';

async function prepared() {
  const cwd = await temporaryFolder();
  const sandbox = await startSandbox();
  await writeFile(join(cwd, 'rows.csv'), csv);
  await writeFile(join(cwd, 'header.csv'), 'evaluation_id,user_id\n');
  const run = (...args: string[]) => cqbatch(args, { cwd, env: sandbox.env });
  return { cwd, sandbox, run };
}

describe('a run without a call', () => {
  test.each([
    [
      'a condition that no row meets',
      ['rows.csv', '--where', 'deleted_by=U-17'],
      'deleted_by has u-17 (2), u-3 (1)',
    ],
    ['a manifest without rows', ['header.csv'], 'header.csv has nothing to call. It has no rows.'],
  ])('is an error until the user allows it: %s', async (_title, args, message) => {
    const { cwd, sandbox, run } = await prepared();
    const plan = await run('plan', ...args, '--json');
    expect(plan.code).toBe(2);
    expect(JSON.parse(plan.stdout)).toMatchObject({
      ...{ ready: false, callable: 0 },
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

  test('is an error in an inbox, too', async () => {
    const { cwd, run } = await prepared();
    const rows = join(cwd, 'inbox');
    await mkdir(rows);
    await writeFile(join(rows, 'a.csv'), 'evaluation_id,user_id\n');
    expect((await run('watch', 'inbox', '--once', '--yes', '--settle', '1ms')).code).not.toBe(0);
    expect(await readdir(join(rows, 'failed'))).toContainEqual(expect.stringMatching(/^a\..*csv$/));
    await writeFile(join(rows, 'b.csv'), 'evaluation_id,user_id\n\n');
    const allowed = await run('watch', 'inbox', '--once', '--yes', '--settle', '1ms', '--allow-empty');
    expect(allowed.code).toBe(0);
    expect(await readdir(join(rows, 'done'))).toContainEqual(expect.stringMatching(/^b\..*csv$/));
  });

  test('does not follow when a report is chosen from by its own columns', async () => {
    const { cwd, sandbox, run } = await prepared();
    expect((await run('run', 'rows.csv', '--yes')).code).toBe(1);
    const folder = await newestRunFolder(cwd);
    for (const [file, row] of [
      ['report.csv', 2],
      ['failed.csv', 1],
    ] as const) {
      const args = [join(folder, file), '--where', '_code=FAILED_PRECONDITION'];
      const plan = JSON.parse((await run('plan', ...args, '--json')).stdout);
      expect(plan).toMatchObject({ ready: true, callable: 1, preview: [{ row }] });
      expect(plan.columns.filter((column: string) => column.startsWith('_'))).toEqual([]);
      expect((await run('run', ...args, '--yes')).code).toBe(1);
    }
    const ids = (await sandbox.log()).map(({ id }) => id);
    expect(ids).toEqual(['1', '50', '2', '50', '50']);
  });
});
