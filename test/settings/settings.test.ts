import { expect, test } from 'vitest';
import { resolveSettings } from '../../src/settings/settings.ts';

type Sources = Parameters<typeof resolveSettings>[0];

const file = (values: Record<string, unknown>): Partial<Sources> => ({
  file: { path: '.cqbatch/config.json', values },
});
const flags = (given: object): Partial<Sources> => ({ flags: given });
const environment = (variables: Sources['environment']): Partial<Sources> => ({ environment: variables });

const resolve = (...sources: readonly Partial<Sources>[]) =>
  resolveSettings(Object.assign({ flags: {}, environment: {} }, ...sources));

test('entries of the file for editors and people are ignored', () => {
  const values = { $schema: 'config.schema.json', '//': ['a comment'], '//rate': '5/s', attempts: 4 };
  expect(resolve(file(values))).toEqual({ attempts: 4 });
});

test('the flag counts before the environment, and the environment before the file', () => {
  const variables = environment({ CQBATCH_CONCURRENCY: '20', CQBATCH_ATTEMPTS: '3', CQBATCH_RATE: '' });
  const values = file({ concurrency: 30, attempts: 4, timeout: '5s' });
  const settings = resolve(flags({ concurrency: '10' }), variables, values);
  expect(settings).toEqual({ concurrency: 10, attempts: 3, timeout: 5_000 });
});

test('pairs are repeated flags, lines of a variable, or an object in the file', () => {
  const map = { 'A=B': 'evaluation_id', User: 'user_id' };
  const pairs = ['A=B=evaluation_id', ' User = user_id'];
  for (const source of [flags({ map: pairs }), environment({ CQBATCH_MAP: pairs.join('\n') }), file({ map })])
    expect(resolve(source)).toEqual({ map });
  const defaults = { user_id: 'a=b', title: 't' };
  expect(resolve(flags({ default: ['user_id=a=b', ' title = t'] }))).toEqual({ default: defaults });
});

test('a field with its own option gets its default from flag, variable or file, before --default', () => {
  const sources = { ...file({ user_id: 'file' }), fields: ['user_id'] };
  const variables = environment({ CQBATCH_USER_ID: 'variable' });
  const given = flags({ userId: 'flag', default: ['user_id=other', 'title=t'] });
  expect(resolve(sources, variables, given)).toEqual({ default: { user_id: 'flag', title: 't' } });
  expect(resolve(sources, variables)).toEqual({ default: { user_id: 'variable' } });
  expect(resolve(sources)).toEqual({ default: { user_id: 'file' } });
  expect(() => resolve(sources, { fields: [] })).toThrow('unknown key "user_id"');
});

test('a command is a text or, in the file, a list of words', () => {
  const tokenCommand = ['a', "it's", '', '$b "c"'];
  const text = `a "it's" '' '$b "c"'`;
  const sources = [flags({ tokenCommand: text }), environment({ CQBATCH_TOKEN_COMMAND: text })];
  for (const source of [...sources, file({ token_command: text }), file({ token_command: tokenCommand })])
    expect(resolve(source)).toEqual({ tokenCommand });
});

test.each<[message: string, sources: Partial<Sources>]>([
  ['--token-command: a quote (") is not closed', flags({ tokenCommand: 'a "secret' })],
  ['CQBATCH_TOKEN_COMMAND: no shell runs it', environment({ CQBATCH_TOKEN_COMMAND: 'a secret | b' })],
  ['config.json: token_command: write a text, or a list', file({ token_command: ['a', 5, 'secret'] })],
])('a command that is wrong is not quoted: %s', (message, sources) => {
  expect(() => resolve(sources)).toThrow(message);
  expect(() => resolve(sources)).not.toThrow('secret');
});

test('a message says which of two sources of the token to remove', () => {
  const given = flags({ tokenCommand: 'a' });
  expect(() => resolve(given, environment({ CQBATCH_TOKEN_FILE: 'b' }))).toThrow(
    '--token-command and CQBATCH_TOKEN_FILE exclude each other: remove CQBATCH_TOKEN_FILE to use --token-command, or ' +
      '--token-command to use CQBATCH_TOKEN_FILE.',
  );
  const variables = environment({ CQBATCH_TOKEN_FILE: '', CQBATCH_TOKEN: 'c' });
  expect(resolve(given, variables)).toEqual({ tokenCommand: ['a'] });
});

test.each<[message: string, sources: Partial<Sources>]>([
  ['--map "ID": write the title of a column', flags({ map: ['ID'] })],
  ['--default "user_id=": write a field and its value', flags({ default: ['user_id='] })],
  ['--concurrency "many"', flags({ concurrency: 'many' })],
  ['CQBATCH_RATE "fast": write a rate as auto, 50/s', environment({ CQBATCH_RATE: 'fast' })],
  ['.cqbatch/config.json: attempts "0"', file({ attempts: 0 })],
  ['unknown key "atempts"', file({ atempts: 1 })],
  ['must not contain a token', file({ token: 'x' })],
])('the source of a bad value is named: %s', (message, sources) => {
  expect(() => resolve(sources)).toThrow(message);
});
