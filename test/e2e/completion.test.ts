import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { describeWithProgram } from '../helpers/describe-with-program.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const main = fileURLToPath(new URL('../../dist/bin/cqbatch.js', import.meta.url));

/** A folder with a run called `monthly`, in which shells find `cqbatch`, and the script `completion` for one of them. */
async function prepared(program: 'bash' | 'zsh' | 'fish') {
  const cwd = await temporaryFolder();
  const { env } = await startSandbox();
  await writeFile(join(cwd, 'rows.csv'), 'evaluation_id,user_id\n1,u\n');
  // What a shell would run if it took file names for words to be expanded.
  await writeFile(join(cwd, '$(touch bad).csv'), '');
  await cqbatch(['run', 'rows.csv', '--yes', '--run-id', 'monthly'], {
    cwd,
    env: { ...env, ...anyDatastore() },
  });
  await cqbatch(['schedule', 'add', 'weekly', '--cron', '@weekly', '--manifest', 'rows.csv'], { cwd });
  await mkdir(join(cwd, 'bin'));
  await writeFile(join(cwd, 'bin', 'cqbatch'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  await chmod(join(cwd, 'bin', 'cqbatch'), 0o755);
  const path = [join(cwd, 'bin'), process.env['PATH']].join(delimiter);
  const shell = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd, env: { PATH: path, HOME: cwd }, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  shell('sh', '-c', `cqbatch completion ${program} > completion`);
  return { cwd, shell };
}

/** What is typed, and some of what may follow. */
const lines: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
  [['re'], ['resume', 'retry', 'report']],
  [
    ['run', '--ra'],
    ['--rate-group', '--rate'],
  ],
  [
    ['run', '--operation', ''],
    ['restore-evaluation', 'update-soundboard'],
  ],
  [['status', ''], ['monthly']],
  [['resume', 'mon'], ['monthly']],
  [
    ['run', '--canary', ''],
    ['10', '10,random'],
  ],
  [['watch', '--onc'], ['--once']],
  [['in'], ['init']],
  [['schedule', 'un'], ['unpause']],
  [['schedule', 'add', '--cr'], ['--cron']],
  [['schedule', 'pause', 'wee'], ['weekly']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
];

test('cqbatch completion names the shells that it knows', async () => {
  const cwd = await temporaryFolder();
  expect(await cqbatch(['completion', 'tcsh'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Allowed choices are bash, zsh, fish'),
  });
});

describeWithProgram(['bash'], 'bash', () => {
  test('completes commands, options, words of options, runs and files', async () => {
    const { shell } = await prepared('bash');
    const complete = (words: readonly string[]) =>
      shell(
        'bash',
        '-c',
        `compopt() { echo "files by $*"; }
         source ./completion
         COMP_WORDS=(cqbatch "$@"); COMP_CWORD=$#
         _cqbatch; printf '%s\\n' "\${COMPREPLY[@]}"`,
        'bash',
        ...words,
      );
    for (const [words, expected] of lines) expect(complete(words)).toEqual(expected);
    expect(complete(['run', 'ro'])).toEqual(['files by -o default']);
    expect(complete(['watch', ''])).toEqual(['files by -o default']);
    expect(complete(['run', '--token-file', ''])).toEqual(['files by -o default']);
    // Nothing that was typed is run.
    expect(complete(['status', '$(touch bad)'])).toEqual([]);
    expect(shell('ls')).not.toContain('bad');
  });
});

describeWithProgram(['zsh'], 'zsh', () => {
  test('completes commands, options, words of options, runs and files', async () => {
    const { shell } = await prepared('zsh');
    const complete = (words: readonly string[]) =>
      shell(
        'zsh',
        '-f',
        '-c',
        `compdef() { }
         _describe() { print -l -- "\${(@)found%%:*}"; }
         _files() { print files; }
         source ./completion
         words=(cqbatch "$@"); CURRENT=$#words
         _cqbatch || true`,
        'zsh',
        ...words,
      );
    for (const [words, expected] of lines) expect(complete(words)).toEqual(expected);
    expect(complete(['run', 'ro'])).toEqual(['files']);
  });
});

describeWithProgram(['fish'], 'fish', () => {
  test('completes commands, options, words of options, runs and files', async () => {
    const { shell } = await prepared('fish');
    const complete = (words: readonly string[]) =>
      shell('fish', '--no-config', '-c', `source completion; complete -C "cqbatch ${words.join(' ')}"`).map(
        (line) => line.split('\t')[0],
      );
    for (const [words, expected] of lines) expect(complete(words)).toEqual(expected);
    expect(complete(['run', 'ro'])).toEqual(['rows.csv']);
  });
});
