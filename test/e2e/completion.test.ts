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
    ['run', '--operation', ''],
    ['restore-evaluation', 'update-soundboard'],
  ],
  [['status', ''], ['monthly']],
  [['schedule', 'un'], ['unpause']],
  [['schedule', 'add', '--cr'], ['--cron']],
  [['schedule', 'pause', 'wee'], ['weekly']],
];

/** How each shell is asked for what may follow, and what it says of files. */
const shells = {
  bash: [
    `compopt() { echo "files by $*"; }
     source ./completion
     COMP_WORDS=(cqbatch "$@"); COMP_CWORD=$#
     _cqbatch; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'files by -o default',
  ],
  zsh: [
    `compdef() { }
     _describe() { print -l -- "\${(@)found%%:*}"; }
     _files() { print files; }
     source ./completion
     words=(cqbatch "$@"); CURRENT=$#words
     _cqbatch || true`,
    'files',
  ],
  fish: ['source completion; complete -C "cqbatch $argv"', 'rows.csv'],
} as const;

for (const program of ['bash', 'zsh', 'fish'] as const)
  describeWithProgram([program], program, () => {
    test('completes commands, options, words of options, runs and files', async () => {
      const { shell } = await prepared(program);
      const [script, files] = shells[program];
      const options = { bash: [], zsh: ['-f'], fish: ['--no-config'] }[program];
      // The first word after the script is the name of the script, but for fish.
      const before = program === 'fish' ? [] : [program];
      const complete = (words: readonly string[]) =>
        shell(program, ...options, '-c', script, ...before, ...words).map((line) => line.split('\t')[0]);
      for (const [words, expected] of lines) expect(complete(words)).toEqual(expected);
      expect(complete(['run', 'ro'])).toEqual([files]);
      if (program !== 'bash') return;
      expect(complete(['watch', ''])).toEqual([files]);
      expect(complete(['run', '--token-file', ''])).toEqual([files]);
      // Nothing that was typed is run.
      expect(complete(['status', '$(touch bad)'])).toEqual([]);
      expect(shell('ls')).not.toContain('bad');
    });
  });
