// @ts-check
/**
 * Puts faults into the core, one at a time, and runs the tests on each: `npm run mutants [-- --only N]`. A fault that no test finds is a test
 * that is missing: the exit code is then 1.
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mutants } from './mutants.js';

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const root = resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'mutants-'));
const chosen = mutants
  .map((mutant, index) => ({ ...mutant, number: String(index + 1) }))
  .filter(({ number }) => values.only?.includes(number) ?? true);
let survivors = 0;

try {
  await copyTree();
  ask('npm', ['run', 'build']);
  for (const { number, what, file, find, replace } of chosen) {
    const path = join(folder, file);
    const text = await readFile(path, 'utf8');
    if (text.split(find).length !== 2)
      throw new Error(`Fault ${number}: ${file} must have its text once. Correct test/mutants/mutants.js.`);
    await writeFile(
      path,
      text.replace(find, () => replace),
    );
    const finder = firstToFail(file);
    await writeFile(path, text);
    if (finder === undefined) survivors += 1;
    process.stdout.write(`${number.padStart(2)}. ${what}: ${finder ?? 'NOT FOUND'}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(`${chosen.length - survivors} of ${chosen.length} faults were found.\n`);
if (survivors > 0) process.exitCode = 1;

/** The first test file that fails: of the unit tests that load the file, which are quick, of `npm test`, of `npm run test:full`. */
function firstToFail(/** @type {string} */ file) {
  for (const args of [
    ['related', file, '--run', '--project', 'unit', '--project', 'replacing'],
    ['run', '--project', 'unit', '--project', 'replacing', '--project', 'journeys'],
    ['run', '--project', 'full'],
  ]) {
    const { status, stdout, stderr } = ask('npx', [
      'vitest',
      ...args,
      '--config',
      'test/vitest.config.ts',
      '--bail',
      '1',
      // A fault that makes a test hang is found, too, and sooner.
      '--testTimeout=120000',
      '--expect.poll.timeout=60000',
    ]);
    const said = stdout + stderr;
    // After the first failure, only standard error may name the file.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors
    const [, name] = /(?:❯|FAIL)\s+\w+\s+(test\/\S+)/.exec(said.replaceAll(/\u001b\[[\d;]*m/g, '')) ?? [];
    if (status !== 0 && name !== undefined) return name;
    if (status !== 0) throw new Error(`The tests did not run:\n${said}`);
  }
  return undefined;
}

/** @param {string} command @param {readonly string[]} args */
function ask(command, args) {
  return spawnSync(command, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 });
}

/** The working tree, without what is not in it. */
async function copyTree() {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const name of listed.stdout.trim().split('\n')) await cp(join(root, name), join(folder, name));
  // Some tests ask git which files there are.
  ask('git', ['init', '--quiet']);
  ask('git', ['add', '--all']);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
}
