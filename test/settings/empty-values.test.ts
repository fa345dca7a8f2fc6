import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/command-line.ts';
import { readOptions } from '../../src/sandbox/notation.ts';
import { sandboxOptions } from '../../src/sandbox/options.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { nameInWords, resolveSettings, variableOf } from '../../src/settings/settings.ts';
import { everyCommand } from '../cli/help.ts';

const table = Object.entries<Setting>(settings);
const fields = ['user_id'];
const names = [...table.map(([name]) => name), 'userId'];
const blanks = ['', ' ', '\n', ' \r\n '];

describe('an empty value of a setting', () => {
  const given = (values: Parameters<typeof resolveSettings>[0]) => () => resolveSettings(values);

  test.each(names)('%s is refused in a flag, also beside a value', (name) => {
    const setting: Setting | undefined = settings[name as keyof typeof settings];
    for (const blank of blanks) {
      const flags = { [name]: setting?.isMap ? ['a=b', blank] : blank };
      expect(given({ flags, environment: {}, fields })).toThrow('it must not be empty');
    }
    if (setting?.isMap)
      expect(given({ flags: { [name]: [] }, environment: {} })).toThrow('must not be empty');
  });

  test.each(names)('%s is refused in a file and in the settings of a program', (name) => {
    for (const blank of [...blanks, null, [], {}]) {
      const file = { path: 'config.json', values: { [nameInWords(name, '_')]: blank } };
      expect(given({ flags: {}, environment: {}, file, fields })).toThrow('config.json: ');
    }
  });

  test.each(names)('%s counts as unset in a variable, but a blank one is refused', (name) => {
    const unset = { flags: {}, environment: { [variableOf(name)]: '' }, fields };
    // No condition would choose every row.
    if (name === 'where') expect(given(unset)).toThrow('CQBATCH_WHERE "": it must not be empty');
    else expect(resolveSettings(unset)).toEqual({});
    for (const blank of blanks.slice(1))
      expect(given({ ...unset, environment: { [variableOf(name)]: blank } })).toThrow('must not be empty');
  });
});

describe('an empty value on the command line', () => {
  const typed = async (words: readonly string[]): Promise<unknown> => {
    const program = await createProgram('0', words);
    program.configureOutput({ writeErr: () => {}, writeOut: () => {} });
    return program.parseAsync(words, { from: 'user' }).catch((error: unknown) => error);
  };
  const requiredOf = (command: Command): readonly string[] =>
    command.registeredArguments.filter(({ required }) => required).map(() => 'x');

  test('is refused for every option of every command that takes a value', async () => {
    let tried = 0;
    for (const [name, command] of await everyCommand()) {
      if (['sandbox', 'completion', 'version'].includes(name)) continue;
      for (const { long } of command.options.filter((option) => option.required)) {
        for (const blank of ['', ' ']) {
          const error = await typed([...name.split(' '), ...requiredOf(command), `${long}`, blank]);
          const message = expect.stringContaining(`${long} is empty`);
          expect(error, `${name} ${long}`).toMatchObject({ code: 'INVALID_SETTING', kind: 'usage', message });
          tried++;
        }
      }
    }
    expect(tried).toBeGreaterThan(400);
  });

  test('is refused for every argument: an unset variable must not mean the newest run', async () => {
    const commands = [...(await everyCommand())].filter(
      ([name]) => !['sandbox', 'completion'].includes(name),
    );
    const lines = commands.flatMap(([name, { registeredArguments: all }]) =>
      all.map((_, empty) => [...name.split(' '), ...all.map((_, at) => (at === empty ? '' : 'x'))]),
    );
    for (const line of lines) expect(await typed(line), `${line}`).toMatchObject({ code: 'INVALID_SETTING' });
    expect(lines.length).toBeGreaterThan(20);
  });

  test.each(Object.keys(sandboxOptions))('is refused for the option %s of the sandbox', (name) => {
    expect(() => readOptions(sandboxOptions, { [name]: ' ' })).toThrow();
  });
});
