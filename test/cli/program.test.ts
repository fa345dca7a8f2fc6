import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { createProgram } from '../../src/cli/program.ts';
import { plain } from '../../src/cli/render/style.ts';

/** What `cqbatch <name> --help` prints on a screen of that width. */
async function helpOf(name: string, columns = 80): Promise<string> {
  const program = await createProgram('1.2.3', [name, '--help']);
  const command = program.commands.find((known) => known.name() === name);
  let text = '';
  command?.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => columns,
  });
  command?.outputHelp();
  return plain(text);
}

/** The headings of the help, in order. */
const headingsIn = (help: string): readonly string[] => help.match(/^\w.*(?=:$)/gm) ?? [];

describe('help', () => {
  test('has what is needed often on the first screen of run', async () => {
    const help = await helpOf('run');
    expect(headingsIn(help)).toEqual([
      'Arguments',
      'API',
      'Run',
      'Output',
      'Manifest',
      'Calls',
      'Shared datastore',
      'Log',
      'Examples',
    ]);
    const firstScreen = help.split('\n').slice(0, 40).join('\n');
    for (const flag of ['--base-url', '--token-file', '--rate', '--yes', '--skip-invalid', '--quiet'])
      expect(firstScreen).toContain(flag);
  });

  test.each(['run', 'resume', 'retry'])('of %s tells all that --rate takes', async (name) => {
    const words = (await helpOf(name)).replaceAll(/\s+/g, ' ');
    expect(words).toMatch(/auto finds .* auto\.\.50\/s .* 50\/s, 600\/m, none/);
    expect(words).toContain({ run: 'default: auto', resume: 'as before', retry: 'as in that run' }[name]);
  });

  test.each(commands.map(({ name }) => name))('of %s has no option outside of a group', async (name) => {
    expect(headingsIn(await helpOf(name))).not.toContain('Options');
  });
});
