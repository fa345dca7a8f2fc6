import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { plain } from '../../src/cli/render/style.ts';
import { helpOf as styledHelpOf } from './help.ts';

const helpOf = async (name: string) => plain(await styledHelpOf(name, 80));

/** The headings of the help, in order. */
const headingsIn = (help: string): readonly string[] => help.match(/^\w.*(?=:$)/gm) ?? [];

describe('help', () => {
  test('has what is needed often on the first screen of run', async () => {
    const help = await helpOf('run');
    expect(headingsIn(help)).toEqual([
      'Arguments',
      'API',
      'Run',
      'Guards',
      'Output',
      'More guards',
      'Manifest',
      'Inbox',
      'Calls',
      'Shared datastore',
      'Log',
      'Telling people',
      'Audit',
      'Examples',
    ]);
    const firstScreen = help.split('\n').slice(0, 40).join('\n');
    for (const flag of ['--base-url', '--token-file', '--rate', '--yes', '--skip-invalid', '--max-failures'])
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
