import { expect, test } from 'vitest';
import { everyCommand, helpOf } from './help.ts';

test.each([
  ['help begins with the three commands for a first run, then the others in four groups', '--help', 'help'],
  ['help of run shows examples, then common options, then where to find all options', 'run -h', 'run-brief'],
  ['help of run has all options with --help', 'run --help', 'run-help'],
])('%s', async (_title, words, screen) => {
  await expect(await helpOf(...words.split(' '))).toMatchFileSnapshot(`screens/${screen}.txt`);
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
    expect(words).toMatch(/auto finds .* auto\.\.50\/s .* 50\/s, 600\/m or 100\/15s .* none: /);
    expect(words).toContain(usual);
  }
});
