import { join } from 'node:path';
import { createFile, makeFolder } from '../../base/disk/files.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { packageRoot } from '../../base/package.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { nameInWords, type SettingName, settingHelp } from '../../settings/settings.ts';
import { configFile, type Flags, trustedStateDir } from '../config.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { openTerminal } from '../terminal.ts';

const samples = {
  baseUrl: 'https://api.example.com',
  tokenFile: '/home/me/callquality.token',
  rate: 'auto..50/s',
  canary: 10,
  maxFailures: '5%',
  confirmAbove: 1_000,
  queue: 'redis://127.0.0.1:6379/0',
  notifyUrl: 'https://hooks.example.com/cqbatch',
} as const satisfies Partial<Record<SettingName, string | number>>;

/** Writes a configuration and sample manifests. Existing files stay as they are. */
export async function init(flags: Flags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const stateDir = await trustedStateDir(flags);
  const config = join(stateDir, configFile);
  await makeFolder(stateDir);
  const written: string[] = [];
  const kept: string[] = [];
  for (const [path, text] of [
    [config, configText()],
    [join(stateDir, '.gitignore'), '# Runs, settings and the queue of cqbatch.\n*\n'],
  ] as const)
    ((await onDisk(path, () => createFile(path, text))) ? written : kept).push(path);
  const lines = [
    ...written.map((path) => `Wrote ${escapeInvisible(path)}.`),
    ...kept.map((path) => `${escapeInvisible(path)} exists and was not changed.`),
  ];
  terminal.result({ written, kept }, lines.join('\n'));
  terminal.say(`Next:
  edit ${escapeInvisible(config)}   # remove the // before "base_url", and set it
  export CQBATCH_TOKEN=…
  cqbatch plan evaluations.csv`);
  return exitCodes.success;
}

/** The sample configuration. JSON has no comments, so `//` before its name turns a setting off. */
function configText(): string {
  const names = Object.keys(samples) as (keyof typeof samples)[];
  const keys = names.map((name) => [nameInWords(name, '_'), name] as const);
  const config = {
    $schema: new URL('docs/config.schema.json', packageRoot).href,
    '//': [
      'Remove the // before the name of a setting to use it. Options and CQBATCH_… variables win over this file.',
      'Never write a token into this file. docs/reference.md lists all settings.',
      ...keys.map(([key, name]) => `${key}: ${settingHelp(name)}`),
    ],
    ...Object.fromEntries(keys.map(([key, name]) => [`//${key}`, samples[name]])),
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
