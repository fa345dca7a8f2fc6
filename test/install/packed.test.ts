import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { expect, test } from 'vitest';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { lockedPackages, npm } from './npm.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What packing needs; `dist` is not included: packing builds it. */
const sources = ['package-lock.json', '.npmrc', 'tsconfig.json', 'src', 'jobs'];
const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'LICENSE',
  'docs',
  'examples',
];

/** Copies the project, so that the other tests keep `dist` while this one builds. */
async function copyProject(folder: string): Promise<void> {
  for (const name of [...sources, ...documents]) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  // The build before the tests is the same as the build of packing.
  const { scripts, ...rest } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const build = `cp -r '${join(root, 'dist')}' dist`;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...rest, scripts: { ...scripts, build } }));
  const packages = [join(root, 'node_modules'), folder];
  // Links, if both folders are on one disk.
  await run('cp', ['-al', ...packages]).catch(() => run('cp', ['-a', ...packages]));
}

/** Expects that the package needs no other one, and names every package whose code it holds, with the version of the lock file. */
async function expectSelfContained(installed: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  for (const needs of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'peerDependencies'])
    expect(manifest).not.toHaveProperty(needs);
  // npm would ask every user to review these.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
    expect(manifest.scripts).not.toHaveProperty(name);
  expect(await readdir(installed)).not.toContain('node_modules');

  const licenses = await readFile(join(installed, 'dist/bin/licenses.txt'), 'utf8');
  const named = [...licenses.matchAll(/^# (\S+) (\d\S*) \([^)]+\)$/gm)].map(([, ...parts]) =>
    parts.join(' '),
  );
  const locked = [...(await lockedPackages())].map(
    ([path, { version }]) =>
      `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}`,
  );
  expect(named.filter((name) => !locked.includes(name))).toEqual([]);
  for (const name of ['@electric-sql/pglite', 'bullmq', 'fastify', 'light-my-request', 'uplot', 'zod'])
    expect(named).toContainEqual(expect.stringMatching(new RegExp(`^${name} `)));
}

/** Expects that the package is as large as the pages say. */
async function expectSizesOfPages(tarball: string, installed: string): Promise<void> {
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  const unpacked = sizes.reduce((sum, size) => sum + size, 0);
  for (const page of ['docs/install.md', 'docs/dependencies.md']) {
    const text = await readFile(join(installed, page), 'utf8');
    const [, packed, mostUnpacked] = /smaller than (\d+) MB\D+(\d+) MB/.exec(text) ?? [];
    expect((await stat(tarball)).size).toBeLessThan(Number(packed) * 1e6);
    expect(unpacked).toBeLessThan(Number(mostUnpacked) * 1e6);
    expect(unpacked).toBeGreaterThan((Number(mostUnpacked) - 3) * 1e6);
  }
}

/** Expects that the commands that the demo prints can be typed in the folder that it leaves. */
async function expectTypable(stdout: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const [, list = ''] = stdout.split('What you can type now:\n');
  const commands = list.split('\n').map((line) => line.trim().split(/ {2,}/)[0] ?? '');
  expect(commands).toContain('cqbatch status');

  // A shell without a terminal can't be asked. Some rows fail, and nothing may be left behind.
  const script = commands.map((command) => command.replace(/^cqbatch run .*/, '$& --yes || [ $? = 1 ]'));
  const shell = ['-c', ['set -e', "trap 'kill $!' EXIT", ...script].join('\n')];
  const typed = await run('/bin/sh', shell, options);
  expect(typed.stdout).toMatch(/^Run \S+ completed$/m);
  expect(typed.stdout).toMatch(/^run +state/m);
  expect(typed.stdout).toMatch(/^ {2}mixed\.csv: 201 rows/m);
  expect(typed.stdout).toMatch(/^Run \S+ completed after \d+ s: 201 rows, /m);
}

/** A program as a user of the library has it, with the types of a strict project. */
const typedProgram = `
import { createClient, defineOperation, operations, results, runBatch, type BatchResult } from 'callquality-batch';

const archive = defineOperation({ name: 'archive-call',
  thing: 'call',
  summary: 'Archive calls',
  fields: { call_id: { type: 'integer', min: 1, required: true }, reason: { type: 'text' } },
  subject: 'call_id',
  request: ({ call_id, reason }) => ({ path: \`/calls/\${call_id}/archive\`, body: { reason } }),
  interpret: () => ({ ok: true, value: { at: 'now' } }),
  columns: { at: ({ at }) => at },
  repeatable: true,
});

const client = createClient({ baseUrl: 'https://api.example.com', token: 'x' });
const batch = { operations: [...operations, archive], client, manifest: 'rows.csv' };
const ended: BatchResult = await runBatch({ ...batch, settings: { max_failures: '5%' }, onEvent: ({ type }) => console.log(type) });
const code: 'succeeded' | 'rows_failed' | 'halted' | 'cancelled' | 'spent' | 'interrupted' | 'failed' = ended.result;
for await (const result of results({ ...batch, run: ended.run })) {
  console.log(result.row + 1, result.subject.length, result.outcome === 'succeeded', code);
  if (result.operation !== 'archive-call') continue;
  console.log(result.columns?.at.length);
  // @ts-expect-error A column of another operation.
  console.log(result.columns?.score);
}
// @ts-expect-error A batch needs a manifest.
await runBatch({ operations, client });
`;

/** The first program of the page about the library, with a local service. */
async function programOfPage(installed: string, url: string): Promise<string> {
  const page = await readFile(join(installed, 'docs/library.md'), 'utf8');
  const [, program = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  return program.replace('https://api.example.com', url).replace(/\/run\/secrets\/[\w-]+/, 'token');
}

/**
 * Expects that such a program has no type errors, including the declarations of the package and of everything that it needs.
 */
async function expectTyped(cwd: string): Promise<void> {
  await writeFile(join(cwd, 'program.mts'), typedProgram);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.mts'] }));
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', cwd]);
}

test('the packed program, installed globally, needs no other package, and works', {
  timeout: 600_000,
}, async () => {
  const home = await temporaryFolder();
  const [project, prefix, cwd] = ['project', 'prefix', 'work'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [project, prefix, cwd]) await mkdir(folder);
  await copyProject(project);

  const { stdout: packed } = await npm(['pack', '--silent', '--pack-destination', home], {
    cwd: project,
    home,
  });
  const tarball = join(home, packed.trim().split('\n').at(-1) ?? '');

  // Nothing may be downloaded, no package may need a newer Node, and npm must not warn.
  const install = ['install', '--global', '--prefix', prefix, '--offline', '--engine-strict', tarball];
  expect((await npm(install, { cwd, home })).stderr).toBe('');
  const installed = join(prefix, 'lib/node_modules/callquality-batch');
  await expectSelfContained(installed);
  await expectSizesOfPages(tarball, installed);
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));

  const env = { PATH: `${join(prefix, 'bin')}:${process.env['PATH']}`, HOME: home, TMPDIR: home };
  expect((await run('cqbatch', ['--version'], { cwd, env })).stdout.trim()).toBe(version);
  const plan = await run('cqbatch', ['plan', join(installed, 'examples/mixed.csv'), '--allow-partial'], {
    cwd,
    env: { ...env, CQBATCH_BASE_URL: 'https://api.example.com', CQBATCH_TOKEN: 'secret' },
  });
  expect(plan.stdout).toMatch(/mixed\.csv: \d+ rows/);
  await run('cqbatch', ['init'], { cwd, env });
  const { $schema } = JSON.parse(await readFile(join(cwd, '.cqbatch/config.json'), 'utf8'));
  expect(JSON.parse(await readFile(new URL($schema), 'utf8'))).toHaveProperty('properties.base_url');
  // If the command is not on the path, it says how to put it there.
  const apart = { cwd, env: { ...env, PATH: process.env['PATH'] } };
  const demo = await run(process.execPath, [join(installed, 'examples/demo.js')], apart);
  expect(`${demo.stdout}${demo.stderr}`).toMatch(/Run \S+ completed/);
  await expectTypable(demo.stdout, apart);

  await mkdir(join(cwd, 'node_modules'));
  await symlink(installed, join(cwd, 'node_modules/callquality-batch'));
  await expectTyped(cwd);
  const { url } = await startSandbox('--token', 'secret');
  await writeFile(join(cwd, 'token'), 'secret');
  await writeFile(join(cwd, 'week-47.csv'), 'evaluation_id,user_id\n1,u1\n9000000000000000000,u2\n');
  await writeFile(join(cwd, 'program.mjs'), await programOfPage(installed, url));
  const asLibrary = await run(process.execPath, ['program.mjs'], { cwd, env });
  expect(asLibrary.stdout).toMatch(/^rows_failed \{\n {2}succeeded: 1,\n {2}failed: 1,/);
  expect(asLibrary.stdout).toMatch(/\n2 9000000000000000000 NOT_FOUND\n$/);

  expect((await publint({ pkgDir: installed, pack: false, strict: true })).messages).toEqual([]);
  const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(await readFile(tarball))));
  // The package has only ES modules, which TypeScript finds since 4.7 (moduleResolution node16, nodenext or bundler).
  const problems = checked.types === false ? ['no types'] : checked.problems.map(({ kind }) => kind);
  expect(problems.toSorted()).toEqual(['CJSResolvesToESM', 'NoResolution']);
});
