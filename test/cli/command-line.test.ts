import { describe, expect, test } from 'vitest';
import { everyCommand, helpOf } from './help.ts';

/** The headings of a help, in order. */
const headingsIn = (help: string): readonly string[] => help.match(/^\w.*(?=:$)/gm) ?? [];

/** The options that a help shows, but for `--help`. */
const optionsIn = (help: string): readonly string[] =>
  (help.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ?? []).map((line) => line.replace(/.* /, '')).slice(0, -1);

describe('help', () => {
  test('begins with the three commands for a first run, then the others in four groups', async () => {
    const help = await helpOf('--help');
    expect(help.split('\n').slice(0, 9).join('\n')).toMatch(
      /Begin here:\n {2}cqbatch sandbox .*\n {2}cqbatch plan .*\n {2}cqbatch run /,
    );
    expect(headingsIn(help).slice(0, 6)).toEqual([
      'Begin here',
      'Options',
      'Run',
      'Look',
      'Control',
      'Operate',
    ]);
    await expect(help).toMatchFileSnapshot('screens/help.txt');
  });

  test('of run shows examples, then common options, then where to find all options', async () => {
    const help = await helpOf('run', '-h');
    expect(headingsIn(help).slice(0, 2)).toEqual(['Examples', 'Arguments']);
    expect(optionsIn(help)).toEqual([
      ...['--base-url', '--token-file', '--rate', '--yes', '--run-id', '--or-resume', '--skip-invalid'],
      ...['--canary', '--max-failures', '--stop-at', '--where', '--user-id', '--queue', '--json', '--quiet'],
    ]);
    expect(help.trimEnd().split('\n').at(-1)).toBe('All options: cqbatch run --help, and docs/reference.md');
    await expect(help).toMatchFileSnapshot('screens/run-brief.txt');
  });

  test('of each command of schedule has an example of that command', async () => {
    const names = [...(await everyCommand()).keys()].filter((name) => name.startsWith('schedule '));
    expect(names).toHaveLength(8);
    for (const name of names) expect(await helpOf(...name.split(' '), '-h')).toContain(`\n  cqbatch ${name}`);
  });

  test.each(['run', 'resume', 'retry'])('of %s has all options with --help', async (name) => {
    await expect(await helpOf(name, '--help')).toMatchFileSnapshot(`screens/${name}-help.txt`);
  });

  test('shows the same with -h as with --help, if a command has few options', async () => {
    expect(await helpOf('list', '-h')).toBe(await helpOf('list', '--help'));
    expect(await helpOf('sandbox', '-h')).toBe(await helpOf('sandbox', '--help'));
  });

  test('of each command fits on 80 columns and has no option outside of a group', async () => {
    const commands = ['', ...(await everyCommand()).keys()];
    expect(commands).toEqual(expect.arrayContaining(['', 'run', 'schedule add', 'sandbox']));
    for (const command of commands) {
      for (const flag of ['-h', '--help']) {
        const help = await helpOf(...command.split(' ').filter(Boolean), flag);
        expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
        if (!['', 'version', 'completion'].includes(command))
          expect(headingsIn(help)).not.toContain('Options');
      }
    }
  });

  test.each(['run', 'resume', 'retry'])('of %s lists all forms of --rate', async (name) => {
    for (const flag of ['-h', '--help']) {
      const words = (await helpOf(name, flag)).replaceAll(/\s+/g, ' ');
      expect(words).toMatch(/auto finds .* auto\.\.50\/s .* 50\/s or 600\/m .* none: /);
      expect(words).toContain({ run: 'default: auto', resume: 'as before', retry: 'as in that run' }[name]);
    }
  });
});
