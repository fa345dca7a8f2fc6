import { describe, expect, test } from 'vitest';
import { resolveSettings } from '../../src/settings/settings.ts';

const file = (values: Record<string, unknown>) => ({ path: '.cqbatch/config.json', values });

describe('resolveSettings', () => {
  test('ignores entries of the file for editors and people', () => {
    const values = { $schema: 'config.schema.json', '//': ['a comment'], '//rate': '5/s', attempts: 4 };
    expect(resolveSettings({ flags: {}, environment: {}, file: file(values) })).toEqual({ attempts: 4 });
  });

  test('prefers the flag to the environment, and the environment to the file', () => {
    const environment = { CQBATCH_CONCURRENCY: '20', CQBATCH_ATTEMPTS: '3' };
    const settings = resolveSettings({
      flags: { concurrency: '10' },
      environment,
      file: file({ concurrency: 30, attempts: 4, timeout: '5s' }),
    });
    expect(settings).toEqual({ concurrency: 10, attempts: 3, timeout: 5_000 });
  });

  test('distinguishes no limit from no setting', () => {
    expect(resolveSettings({ flags: { rate: 'none', concurrency: 'auto' }, environment: {} })).toEqual({
      rate: null,
      concurrency: 'auto',
    });
  });

  test('treats an empty variable as unset', () => {
    expect(resolveSettings({ flags: {}, environment: { CQBATCH_RATE: '' } })).toEqual({});
  });

  test('pairs are repeated flags, lines of a variable, or an object in the file', () => {
    const map = { 'A=B': 'evaluation_id', User: 'user_id' };
    const pairs = ['A=B=evaluation_id', ' User = user_id'];
    expect(resolveSettings({ flags: { map: pairs }, environment: {} })).toEqual({ map });
    expect(resolveSettings({ flags: {}, environment: { CQBATCH_MAP: pairs.join('\n') } })).toEqual({ map });
    expect(resolveSettings({ flags: {}, environment: {}, file: file({ map }) })).toEqual({ map });
    const flags = { default: ['user_id=a=b', ' title = t'] };
    expect(resolveSettings({ flags, environment: {} })).toEqual({ default: { user_id: 'a=b', title: 't' } });
  });

  test('a field with its own option gets its default from flag, variable or file, before --default', () => {
    const fields = ['user_id'];
    const flags = { userId: 'flag', default: ['user_id=other', 'title=t'] };
    const environment = { CQBATCH_USER_ID: 'variable' };
    const sources = { environment, file: file({ user_id: 'file' }), fields };
    expect(resolveSettings({ ...sources, flags })).toEqual({ default: { user_id: 'flag', title: 't' } });
    expect(resolveSettings({ ...sources, flags: {} })).toEqual({ default: { user_id: 'variable' } });
    expect(resolveSettings({ ...sources, flags: {}, environment: {} })).toEqual({
      default: { user_id: 'file' },
    });
    expect(() => resolveSettings({ ...sources, flags: {}, fields: [] })).toThrow('unknown key "user_id"');
  });

  test('a command is a text or, in the file, a list of words', () => {
    const tokenCommand = ['a', "it's", '', '$b "c"'];
    const text = `a "it's" '' '$b "c"'`;
    expect(resolveSettings({ flags: { tokenCommand: text }, environment: {} })).toEqual({ tokenCommand });
    expect(resolveSettings({ flags: {}, environment: { CQBATCH_TOKEN_COMMAND: text } })).toEqual({
      tokenCommand,
    });
    for (const token_command of [text, tokenCommand])
      expect(resolveSettings({ flags: {}, environment: {}, file: file({ token_command }) })).toEqual({
        tokenCommand,
      });
  });

  test.each([
    [
      '--token-command',
      { flags: { tokenCommand: 'a "secret' }, environment: {} },
      'a quote (") is not closed',
    ],
    [
      'CQBATCH_TOKEN_COMMAND',
      { flags: {}, environment: { CQBATCH_TOKEN_COMMAND: 'a secret | b' } },
      'no shell runs it',
    ],
    [
      '.cqbatch/config.json: token_command',
      { flags: {}, environment: {}, file: file({ token_command: ['a', 5, 'secret'] }) },
      'write a text, or a list of texts',
    ],
  ])('does not quote a command that is wrong: %s', (source, sources, message) => {
    expect(() => resolveSettings(sources)).toThrow(`${source}: ${message}`);
    expect(() => resolveSettings(sources)).not.toThrow('secret');
  });

  test('says which of two sources of the token to remove', () => {
    const flags = { tokenCommand: 'a' };
    expect(() => resolveSettings({ flags, environment: { CQBATCH_TOKEN_FILE: 'b' } })).toThrow(
      '--token-command and CQBATCH_TOKEN_FILE exclude each other: remove CQBATCH_TOKEN_FILE to use --token-command, or ' +
        '--token-command to use CQBATCH_TOKEN_FILE.',
    );
    expect(() => resolveSettings({ flags, environment: {}, file: file({ token_file: 'b' }) })).toThrow(
      'remove token_file in .cqbatch/config.json to use --token-command',
    );
    const environment = { CQBATCH_TOKEN_FILE: '', CQBATCH_TOKEN: 'c' };
    expect(resolveSettings({ flags, environment })).toEqual({ tokenCommand: ['a'] });
  });

  test.each([
    [
      'a pair without a field',
      { flags: { map: ['ID'] }, environment: {} },
      '--map "ID": write the title of a column',
    ],
    [
      'a default without a value',
      { flags: { default: ['user_id='] }, environment: {} },
      '--default "user_id=": write a field and its value',
    ],
    ['a flag', { flags: { concurrency: 'many' }, environment: {} }, '--concurrency "many"'],
    [
      'a variable',
      { flags: {}, environment: { CQBATCH_RATE: 'fast' } },
      'CQBATCH_RATE "fast": write a rate as auto, 50/s',
    ],
    [
      'a key',
      { flags: {}, environment: {}, file: file({ attempts: 0 }) },
      '.cqbatch/config.json: attempts "0"',
    ],
    ['an unknown key', { flags: {}, environment: {}, file: file({ atempts: 1 }) }, 'unknown key "atempts"'],
    [
      'a token in the file',
      { flags: {}, environment: {}, file: file({ token: 'x' }) },
      'must not contain a token',
    ],
  ])('names the source of a bad value: %s', (_title, sources, message) => {
    expect(() => resolveSettings(sources)).toThrow(message);
  });
});
