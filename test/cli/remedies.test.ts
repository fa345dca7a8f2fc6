import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, test } from 'vitest';
import { understood, variables, words } from '../examples/command-line.ts';
import { everyCommand } from './help.ts';
import { toldOptions } from './told-options.ts';

/** The texts of a source file; `X` stands for what the program puts in. */
function textsOf(file: string, code: string): readonly string[] {
  const parts = new Set<ESTree.Node>();
  const textOf = (node: ESTree.Node): string => {
    parts.add(node);
    if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : 'X';
    if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('X');
    const isSum = node.type === 'BinaryExpression' && node.operator === '+';
    return isSum ? textOf(node.left) + textOf(node.right) : 'X';
  };
  const texts: string[] = [];
  const take = (node: ESTree.Node): void => {
    if (!parts.has(node)) texts.push(textOf(node));
  };
  const { program } = parseSync(file, code);
  new Visitor({ BinaryExpression: take, TemplateLiteral: take, Literal: take }).visit(program);
  return texts;
}

const sources = (await readdir('src', { recursive: true })).filter((name) => name.endsWith('.ts'));
const texts = await Promise.all(
  sources.map(async (name) => ({ name, texts: textsOf(name, await readFile(join('src', name), 'utf8')) })),
);

/** Each match of a pattern in the texts of the program: its first group. */
function found(pattern: RegExp, except = /^pages\/browser\/chart/): readonly string[] {
  const ours = texts.filter(({ name }) => !except.test(name)).flatMap((source) => source.texts);
  const all = ours.flatMap((text) => [...text.matchAll(pattern)].map(([, match = '']) => match.trim()));
  return [...new Set(all)].toSorted();
}

const names = await everyCommand();

describe('every command in a message is understood', () => {
  /** They say what was typed, or begin a sentence. */
  const others = /^(?:X|resume X X$|on |calls |plan --out$|help --all$)/;
  const commands = [
    ...found(/"cqbatch ([^"]+)"/g),
    ...found(/: cqbatch ([^";(]+)/g),
    ...found(/^cqbatch ([^;(>]+)/g),
  ]
    // The name of a command alone leads to its usage.
    .filter((line) => !others.test(line) && !names.has(line.replace(/ (?:-h|--help)$/, '')));

  test('of which there are many', () => expect(commands.length).toBeGreaterThan(70));

  test.each(commands)('cqbatch %s', async (line) => void (await understood(words(line))));
});

/** Options in messages that no system test types, and why. */
const untyped: Readonly<Record<string, string>> = {
  '--all': 'cli/command-line.test.ts asks for help with it',
  '--check': 'of Node',
  '--health-name': 'daemon/health.test.ts asks a server that has it',
  '--heap-growing-percent': 'of V8',
  '--host': 'pages/server/access.test.ts asks a dashboard that has it',
  '--no': 'begins an option that is false',
  '--notify-url': 'the message says what failed, and is no remedy',
  '--version': 'usage',
};

test('every option in a message is typed by a system test', async () => {
  // Those of help, of the sandbox and of Node, and the custom properties of pages.
  const others =
    /option-table|setting-table|reading-settings|commands\.ts$|^pages\/browser|embedded\/database\.ts|session\.ts|words\.ts|sandbox/;
  const typed = new Set(Object.values(toldOptions).flatMap(([line]) => line));
  for (const folder of ['test/e2e', 'test/library', 'test/engine/manifest'])
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      const text = await readFile(join(folder, name), 'utf8');
      for (const [, option = ''] of text.matchAll(/'(--[a-z0-9-]+)'/g)) typed.add(option);
    }
  const options = found(/(?<![\w-])(--[a-z][a-z0-9-]*[a-z0-9])/g, others);
  expect(options.filter((option) => !typed.has(option))).toEqual(Object.keys(untyped).toSorted());
});

test('every variable in a message is one that the program reads', () => {
  const secrets = ['TOKEN', 'QUEUE_PASSWORD', 'SENTINEL_PASSWORD', 'NOTIFY_SECRET'].map(
    (name) => `CQBATCH_${name}`,
  );
  const known = new Set([...variables, ...secrets]);
  expect(found(/\b(CQBATCH_[A-Z_]+)(?!X)\b/g).filter((name) => !known.has(name))).toEqual(['CQBATCH_X']);
});

/** Commands of other programs in messages, with the test that types each, or why none does. */
const typedElsewhere: Readonly<Record<string, string>> = {
  'CONFIG SET appendonly yes': 'engine/datastore/redis/info.test.ts',
  'CONFIG SET maxmemory': 'engine/datastore/redis/info.test.ts',
  'CONFIG SET maxmemory-policy noeviction': 'engine/datastore/redis/info.test.ts',
  'chmod go-w X': 'e2e/remedies.test.ts',
  'chmod go-w X X': 'e2e/remedies.test.ts',
  chown: 'daemon/inbox/other-hands.test.ts',
  'chown -R': 'daemon/inbox/other-hands.test.ts',
  'jq -s X FILE > rows.json (with jq 1.7 or later: before, it rounds long identifiers)':
    'engine/manifest/remedies.test.ts',
  'kill X': 'e2e/stop.test.ts',
  'ulimit -n 1024': 'e2e/state-folder.test.ts',
  'ulimit -v unlimited': 'e2e/state-folder.test.ts',
};

test('every command of another program in a message is typed by a test, or there is a reason', async () => {
  const programs = 'jq -s|kill|chmod|chown|ulimit|npm|CONFIG SET';
  expect(found(new RegExp(`(?:"|: |^)((?:${programs}) [^"]*)`, 'g'))).toEqual(Object.keys(typedElsewhere));
  for (const [line, file] of Object.entries(typedElsewhere)) {
    if (!file.endsWith('.ts')) continue;
    const [program = ''] = line.split(' ');
    expect(await readFile(join('test', file), 'utf8'), `${line} in ${file}`).toContain(program);
  }
});
