import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newestRunFolder } from '../helpers/run-folder.ts';
import { newHome } from './home.ts';

test('the report uses the delimiter of the manifest, failed rows can be run again, and Excel gets a separate file', async () => {
  // Commas within cells, as where they stand in numbers.
  const text = 'evaluation_id;user_id;note\n1;u;3,5\n50;"a;b";x,=1+1\n';
  const { cwd, run, json } = await newHome(text);
  expect((await run('run', 'rows.csv', '--yes')).code).toBe(1);
  const folder = await newestRunFolder(cwd);
  const lines = async (name: string) => (await readFile(join(folder, name), 'utf8')).slice(1).split('\n');

  const [header, first, second] = await lines('report.csv');
  expect(header).toMatch(/^evaluation_id;user_id;note;_row;/);
  expect(first).toMatch(/^1;u;3,5;1;/);
  expect(second).toMatch(/^50;"a;b";x,'=1\+1;2;/);
  await writeFile(join(cwd, 'mended.csv'), await readFile(join(folder, 'failed.csv')));
  expect(await json('plan', 'mended.csv')).toMatchObject({ rows: 1, callable: 1 });

  // What retry repeats is kept as JSON.
  expect((await run('retry', '--yes')).code).toBe(1);
  expect(await readFile(join(await newestRunFolder(cwd), 'report.csv'), 'utf8')).toMatch(
    /^\ufeffevaluation_id;/,
  );

  expect((await run('report', folder.split('/').at(-1) ?? '', '--delimiter', 'tab')).code).toBe(0);
  expect((await lines('report.csv'))[0]).toMatch(/^evaluation_id\tuser_id\tnote\t_row\t/);
  const xlsx = await json<{ files: { xlsx: string } }>('report', '--format', 'xlsx');
  expect((await readFile(join(cwd, xlsx.files.xlsx))).subarray(0, 4).toString()).toBe('PK\x03\x04');
});
