import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/command-line.ts';
import { everyCommand, helpOf, helpOn } from './help.ts';

test.each([
  ['help begins with the commands for a first run, then those of a first week', '--help', 'help'],
  ['help has the other commands in four groups with --all', '--help --all', 'help-all'],
  ['help of run shows examples, then common options, then where to find all options', 'run -h', 'run-brief'],
  ['help of run has all options with --help', 'run --help', 'run-help'],
])('%s', async (_title, words, screen) => {
  await expect(await helpOf(...words.split(' '))).toMatchFileSnapshot(`screens/${screen}.txt`);
});

test('help fits on a screen of 30 lines, and ends with the command that shows the rest', async () => {
  const lines = (await helpOf('--help')).trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(30);
  expect(lines.at(-1)).toContain('cqbatch help --all');
});

test('help has all commands, and a command all options, in each way to ask for them', async () => {
  const all = await helpOf('--help', '--all');
  expect(await helpOf('help', '--all')).toBe(all);
  expect(await helpOf('-h', '--all')).toBe(all);
  expect(await helpOf('run', '-h', '--all')).toBe(await helpOf('run', '--help'));
  const names = [...(await everyCommand()).keys()].filter((name) => !name.includes(' '));
  for (const name of names) expect(all).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
});

test('hints and completion know the commands that the first help leaves out', async () => {
  const program = await createProgram('0', ['--help']);
  const known = program.createHelp().visibleCommands(program);
  expect(known.map((command) => command.name())).toEqual(
    expect.arrayContaining(['submit', 'worker', 'set-priority']),
  );
});

test('what commands and options mean stands below them on a screen of 40 columns', async () => {
  for (const command of ['', ...(await everyCommand()).keys()]) {
    for (const flag of ['-h', '--all']) {
      const lines = (await helpOn(40, ...command.split(' ').filter(Boolean), flag, '-h')).split('\n');
      const meanings = lines.filter((line) => /^ {6}\S/.test(line));
      expect(meanings.length).toBeGreaterThan(0);
      expect(meanings.filter((line) => line.length > 40)).toEqual([]);
    }
  }
});

test('help of each command fits on 80 columns and has no option outside of a group', async () => {
  const commands = ['', ...(await everyCommand()).keys()];
  expect(commands).toEqual(expect.arrayContaining(['', 'run', 'schedule add', 'sandbox']));
  for (const command of commands) {
    for (const flag of ['-h', '--help']) {
      const help = await helpOf(...command.split(' ').filter(Boolean), flag);
      expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
      if (!['', 'version', 'completion'].includes(command)) expect(help).not.toMatch(/^Options:$/m);
    }
  }
});

test.each([
  ['run', 'default: auto'],
  ['resume', 'as before'],
  ['retry', 'as in that run'],
])('help of %s lists all forms of --rate, and that without it the rate is %s', async (name, usual) => {
  for (const flag of ['-h', '--help']) {
    const words = (await helpOf(name, flag)).replaceAll(/\s+/g, ' ');
    expect(words).toMatch(/auto: find .* auto\.\.50\/s: .* 50\/s, 600\/m or 100\/15s: .* none: /);
    expect(words).toContain(usual);
  }
});
