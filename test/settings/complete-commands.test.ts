import { expect, test } from 'vitest';
import type { CommandSpec } from '../../src/cli/command-spec.ts';
import { commandGroups } from '../../src/cli/commands.ts';
import type { Flags } from '../../src/cli/config.ts';
import { completeCommands, placeOptions } from '../../src/settings/complete-commands.ts';
import { understood, words } from '../examples/command-line.ts';

const place = { stateDir: 'my runs', queue: 'redis://10.0.0.7' } as const;
const api = { baseUrl: 'http://x', rateGroup: 'acme', allowInsecureHttp: true, tokenFile: 'token' } as const;
const own = { operations: './own.js' } as const;

test.each<[what: string, flags: Flags, text: string, completed: string]>([
  ['nothing was typed', { yes: true, code: ['A'] }, 'cqbatch resume r', 'cqbatch resume r'],
  [
    'a command takes all',
    { ...own, stateDir: 's' },
    'cqbatch retry r --transient',
    'cqbatch retry --state-dir s --operations ./own.js r --transient',
  ],
  [
    'a command takes only some',
    { ...place, ...own, ...api },
    'cqbatch show r --row 1',
    'cqbatch show --state-dir "my runs" r --row 1',
  ],
  ['a run has its API', api, 'cqbatch resume r', 'cqbatch resume --token-file token r'],
  [
    'a manifest needs an API',
    api,
    'cqbatch run correct.csv',
    'cqbatch run --base-url http://x --rate-group acme --allow-insecure-http --token-file token correct.csv',
  ],
  [
    'a daemon has its own options',
    { ...own, ...api },
    'cqbatch resume r --submit',
    'cqbatch resume r --submit',
  ],
  [
    'the command has an option already',
    { ...own, stateDir: 's' },
    'cqbatch plan "a b.csv" --operations ./other.js',
    'cqbatch plan --state-dir s "a b.csv" --operations ./other.js',
  ],
  [
    'a message has several commands',
    { stateDir: 's' },
    'Run r is halted: "cqbatch resume r" continues it, or cancel it ("cqbatch cancel r"); cqbatch schedule show n',
    'Run r is halted: "cqbatch resume --state-dir s r" continues it, or cancel it ("cqbatch cancel --state-dir s r"); cqbatch schedule show --state-dir s n',
  ],
  [
    'the token command may be secret',
    { tokenCommand: 'print secret' },
    'cqbatch resume r',
    'cqbatch resume r',
  ],
  [
    'the program is only named',
    { stateDir: 's' },
    'the version of cqbatch that made the plan; cqbatch does not run it',
    'the version of cqbatch that made the plan; cqbatch does not run it',
  ],
])('%s', (_what, flags, text, completed) => {
  expect(completeCommands(text, flags)).toBe(completed);
  expect(completeCommands(completed, flags)).toBe(completed);
});

test.each([
  'resume r',
  'retry r --unclear',
  'undo r',
  'check r',
  'run correct.csv',
  'submit rows.csv',
  'export soundboards --out NAME.csv',
  'worker --coordinate',
  'watch inbox --once',
  'status r --watch',
  'cancel r',
  'set-rate r 5/s',
  'report r --with-retries',
  'schedule show n',
  'dashboard --control',
])('the command line understands cqbatch %s with all that was typed', async (line) => {
  const flags = { stateDir: "the manager's runs", queue: place.queue, ...own, ...api };
  const completed = completeCommands(`cqbatch ${line}`, flags);
  const { flags: given } = await understood(words(completed).slice(1));
  expect(given).toMatchObject({ stateDir: flags.stateDir });
  expect(completeCommands(completed, flags)).toBe(completed);
});

const runHasIt = ['baseUrl', 'rateGroup', 'allowInsecureHttp'];
const known = new Set<string>(Object.values(placeOptions).flat());

/** The options of a place that have an effect, as the spec of a command says. @param beside the option that is typed, too */
function effectiveOptions({ options = {}, unused = {}, fromRun }: CommandSpec, beside: string) {
  const without = Object.entries(unused.lackingOption ?? {}).filter(([other]) => other !== beside);
  const idle = [
    ...without,
    ...Object.entries(unused.overriddenBy ?? {}).filter(([other]) => other === beside),
  ]
    .filter(([other]) => !known.has(other))
    .flatMap(([, names]) => names);
  return Object.values(options)
    .flat()
    .filter((name) => known.has(name) && !idle.includes(name))
    .filter((name) => fromRun === undefined || !runHasIt.includes(name));
}

test('a command is completed with the options that it has, and that have an effect', () => {
  const specs = Object.values(commandGroups)
    .flat()
    .flatMap((spec) =>
      'commands' in spec
        ? spec.commands.map((each) => [`${spec.name} ${each.name}`, each] as const)
        : [[spec.name, spec] as const],
    );
  const expected = specs.flatMap(([name, spec]) =>
    ['', 'submit', 'start'].flatMap((beside) => {
      const has =
        beside === '' ||
        Object.values(spec.options ?? {})
          .flat()
          .includes(beside as never);
      return has
        ? [[beside === '' ? name : `${name} --${beside}`, effectiveOptions(spec, beside)] as const]
        : [];
    }),
  );
  const sorted = (pairs: readonly (readonly [string, readonly string[]])[]) =>
    Object.fromEntries(pairs.map(([name, options]) => [name, options.toSorted()]));
  expect(sorted(Object.entries(placeOptions))).toEqual(sorted(expected));
});
