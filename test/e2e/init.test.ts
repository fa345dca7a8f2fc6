import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { asUsersHaveIt, cqbatch } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('init writes a configuration file and a .gitignore, and says what to type next', async () => {
  const cwd = await temporaryFolder();
  const { code, stdout, stderr } = await cqbatch(['init'], { cwd });
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'Wrote .cqbatch/config.json.\nWrote .cqbatch/.gitignore.\n',
    stderr: expect.stringContaining('cqbatch plan evaluations.csv'),
  });
  const folder = join(cwd, '.cqbatch');
  expect(await readdir(folder)).toEqual(['.gitignore', 'config.json']);
  expect((await stat(join(folder, 'config.json'))).mode & 0o077).toBe(0);
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toMatch(/^\*$/m);
});

test('init writes commented settings that are valid, and a schema that exists', async () => {
  const cwd = await temporaryFolder();
  const env = { ...asUsersHaveIt };
  await cqbatch(['init'], { cwd, env });
  const path = join(cwd, '.cqbatch', 'config.json');
  const text = await readFile(path, 'utf8');
  const { $schema } = JSON.parse(text);
  const schema = JSON.parse(await readFile(fileURLToPath($schema), 'utf8'));
  expect(Object.keys(schema.properties)).toContain('base_url');

  await writeFile(join(cwd, 'rows.csv'), 'evaluation_id,user_id\n1,u\n');
  expect(await cqbatch(['plan', 'rows.csv'], { cwd, env })).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining('api.example.com'),
  });
  await writeFile(path, text.replaceAll('"//', '"').replace('"": [', '"//": ['));
  expect(await cqbatch(['plan', 'rows.csv'], { cwd, env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('https://api.example.com'),
  });
});

test('init overwrites nothing', async () => {
  const cwd = await temporaryFolder();
  await cqbatch(['init'], { cwd });
  const path = join(cwd, '.cqbatch', 'config.json');
  await writeFile(path, '{"rate":"5/s"}');
  const { code, stdout } = await cqbatch(['init', '--json'], { cwd });
  expect({ code, document: JSON.parse(stdout) }).toEqual({
    code: 0,
    document: { written: [], kept: ['.cqbatch/config.json', '.cqbatch/.gitignore'] },
  });
  expect(await readFile(path, 'utf8')).toBe('{"rate":"5/s"}');
});
