import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { restoreCsv } from '../e2e/manifests.ts';
import { asUsersHaveIt, startShell } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { Terminal, textOf } from './terminal.ts';

/** The terminal of the recording. */
export const screen = { columns: 76, rows: 20 };
export const address = '127.0.0.1:8791';

const rows = 1_200;

/** A run of more than 1,000 rows asks for their number. */
export const answer = String(rows);
/** Ctrl-Z suspends the first command, so that it can be killed from its own terminal. */
export const suspend = '\u001a';
const prompt = /^\$ $/;

/** What is typed, and behind what. */
const typed: readonly (readonly [behind: RegExp, line: string])[] = [
  [prompt, 'cqbatch run export.csv --rate 200/s'],
  [/to go on: $/, answer],
  [prompt, 'kill -9 %1; sleep 1'],
  [prompt, 'cqbatch resume'],
  [prompt, 'curl -s $CQBATCH_BASE_URL/sandbox/stats | cut -d, -f1,2  # ask the API'],
];

/** A service that refuses no row. */
export const sandboxOptions = [
  ...['--evaluations', String(rows), '--unrecoverable', '0%', '--not-deleted', '0%'],
  ...['--latency', '10ms..30ms'],
];

/**
 * Types into a shell, in a folder with a manifest, until the last command has ended.
 *
 * @param type types a line and Enter
 * @param see gets the lines of the terminal after each change; the same array each time
 */
export async function play(
  env: Readonly<Record<string, string>>,
  type: (line: string, shell: Writable) => Promise<void>,
  see: (lines: Terminal['lines']) => void,
): Promise<void> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'export.csv'), restoreCsv(rows).text);
  const bin = await temporaryFolder();
  await symlink(resolve('dist/bin/cqbatch.js'), join(bin, 'cqbatch'));
  const { stdin, stdout } = startShell(
    `stty cols ${screen.columns} rows ${screen.rows}; exec bash --norc --noediting -i`,
    {
      cwd,
      env: {
        ...asUsersHaveIt,
        ...env,
        HISTFILE: '',
        PATH: `${bin}:${process.env['PATH']}`,
        PS1: '$ ',
        TZ: 'UTC',
      },
    },
  );
  if (stdin === null || stdout === null) throw new Error('the shell has no terminal');
  const terminal = new Terminal(screen.columns);
  const left = [...typed, [prompt, ''] as const];
  stdout.setEncoding('utf8');
  for await (const output of stdout) {
    terminal.write(output);
    see(terminal.lines);
    const [behind, line = ''] = left[0] ?? [];
    if (!behind?.test(textOf(terminal.lines.at(-1) ?? []))) continue;
    left.shift();
    if (left.length === 0) return;
    void type(line, stdin);
  }
  throw new Error('the shell ended');
}
