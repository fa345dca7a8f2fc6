import { usageError } from '../base/errors/errors.ts';
import { isBlank } from '../base/text/blank.ts';
import { shellWord } from '../base/text/command-words.ts';
import { parseText } from './parsers.ts';
import type { Setting } from './setting.ts';
import { settings } from './setting-table.ts';

type Definitions = typeof settings;

export type SettingName = keyof Definitions;

export type FlagName = {
  [Name in SettingName]: Definitions[Name] extends { noFlag: true } ? never : Name;
}[SettingName];

export type Settings = { readonly [Name in SettingName]?: ReturnType<Definitions[Name]['parse']> };

export const defaultStateDir = '.cqbatch';

export const settingHelp = (name: SettingName): string => settings[name].help;

export const settingWords: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries<Setting>(settings).flatMap(([name, { words }]) => (words ? [[name, words]] : [])),
);

export const defaults = Object.fromEntries(
  Object.entries<Setting>(settings).flatMap(([name, { parse, default: text }]) =>
    text === undefined ? [] : [[name, parse(text)]],
  ),
) as {
  readonly [Name in SettingName as Definitions[Name] extends { default: string } ? Name : never]: NonNullable<
    ReturnType<Definitions[Name]['parse']>
  >;
};

/** Pairs of a setting and another, without which it has no effect. */
export const settingNeeds: readonly (readonly [name: string, other: string])[] = Object.entries<Setting>(
  settings,
).flatMap(([name, { needs }]) => (needs === undefined ? [] : [[name, needs]]));

export type CallOptionName = Extract<Definitions[SettingName], { callOption: string }>['callOption'];

export function isCallOption(name: string): name is CallOptionName {
  return Object.values<Setting>(settings).some(({ callOption }) => callOption === name);
}

export function setsOption(name: string): boolean {
  const setting: Setting | undefined = settings[name as SettingName];
  return (setting?.rowOption ?? setting?.callOption) !== undefined;
}

export function isOfBatch(name: SettingName): boolean {
  const { appliesToBatch }: Setting = settings[name];
  return appliesToBatch === true || setsOption(name);
}

type InSnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${InSnakeCase<Rest>}`
  : '';

type GivenValue<Definition> = Definition extends { isMap: true }
  ? string | readonly string[] | Readonly<Record<string, string | number>>
  : Definition extends { words: readonly (infer Word)[] }
    ? Word
    : Definition extends { value: string }
      ? string | number
      : boolean | 'yes' | 'no';

/** Values of settings, by the keys of `config.json`. */
export type BatchSettings = {
  readonly [Name in SettingName as Definitions[Name] extends
    | { appliesToBatch: true }
    | { rowOption: string }
    | { callOption: string }
    ? InSnakeCase<Name>
    : never]?: GivenValue<Definitions[Name]>;
};

/** The name of a setting as people write it: `timeoutMs` as `--timeout`, `backoffMs` as `backoff`. */
export function optionInWords(option: string): string {
  const [name = option, setting] =
    Object.entries<Setting>(settings).find(
      ([, { rowOption, callOption }]) => option === rowOption || option === callOption,
    ) ?? [];
  return setting?.noFlag ? nameInWords(name, '_') : `--${nameInWords(name, '-')}`;
}

/** The flags of the settings that limit what may go wrong in a run. */
export const guardFlags = Object.entries<Setting>(settings).flatMap(([name, { isGuard }]) =>
  isGuard ? [name as FlagName] : [],
);

/** The flags of the settings that lead to a datastore that machines share. */
export const sharingFlags = ['queue', 'queuePasswordFile'] as const satisfies readonly FlagName[];

export type RawSettings = {
  readonly [Name in FlagName]?:
    | (Definitions[Name] extends { isMap: true }
        ? readonly string[]
        : Definitions[Name] extends { value: string }
          ? string
          : true)
    | undefined;
};

export interface CommandOption {
  readonly flags: string;
  readonly help: string;
  /** Whether `-h` shows the option even if a command has many. */
  readonly isCommon?: true | undefined;
  readonly collect?: ((text: string) => unknown) | undefined;
}

interface OwnMeaning {
  readonly help?: string | undefined;
  readonly byDefault?: string | undefined;
  /** The help of a setting, without its variable and `behaviorWithout`. */
  readonly isBrief?: boolean;
}

export function flagOf(name: FlagName, own: OwnMeaning = {}): CommandOption {
  const {
    value,
    help,
    isCommon,
    default: usual,
    behaviorWithout = usual,
    orVariable,
    isMap,
  }: Setting = settings[name];
  const { byDefault = own.isBrief ? usual : behaviorWithout } = own;
  const notes = [
    own.isBrief ? '' : variableOf(name),
    orVariable === undefined ? '' : `${orVariable[0]} has ${orVariable[1]} itself`,
    byDefault === undefined ? '' : `default: ${byDefault}`,
  ].filter(Boolean);
  return {
    flags: [`--${nameInWords(name, '-')}`, value].filter(Boolean).join(' '),
    help: `${own.help ?? help}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`,
    isCommon,
    collect: isMap && collectFlag,
  };
}

export function collectFlag(another: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, another];
}

export function variableOf(name: string): string {
  return `CQBATCH_${nameInWords(name, '_').toUpperCase()}`;
}

/** The words of a name in camelCase, in lower case. */
export function nameInWords(name: string, between: string): string {
  return name.replace(/[A-Z]/g, (letter) => between + letter.toLowerCase());
}

/** Options as the words of a command line: `{ stateDir: 'runs', html: false }` as `--state-dir runs --no-html`. */
export function flagWords(options: object): readonly string[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    const words = nameInWords(name, '-');
    if (value === undefined) return [];
    if (value === true) return [`--${words}`];
    if (value === false) return [`--no-${words}`];
    return [value].flat().flatMap((text) => [`--${words}`, String(text)]);
  });
}

/** The name in camelCase for one in snake_case. */
function nameInCamelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

export interface SettingSources {
  readonly flags: RawSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly path: string; readonly values: Readonly<Record<string, unknown>> } | undefined;
  /** Fields whose default a flag of their own sets (`--user-id`). */
  readonly fields?: readonly string[];
}

/** @throws a usage error that names the flag, variable or key, and the correct form */
export function resolveSettings(sources: SettingSources): Settings {
  const { file, fields = [] } = sources;
  if (file !== undefined) rejectUnknownKeys(file.path, file.values, fields);
  const given: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    const value = resolvedValue(name, setting, sources);
    if (value !== undefined) given[name] = value;
  }
  for (const [name, { excludedBy: other }] of Object.entries<Setting>(settings)) {
    if (other === undefined || given[name] === undefined || given[other] === undefined) continue;
    const [one, another] = [name, other].map((each) =>
      sourceOf(each, sources)[0].replace(/^(.*): (\w+)$/, '$2 in $1'),
    );
    throw usageError(
      'INVALID_SETTING',
      `${one} and ${another} exclude each other: remove ${another} to use ${one}, or ${one} to use ${another}.`,
    );
  }
  for (const field of fields) {
    const value = resolvedValue(nameInCamelCase(field), { parse: parseText }, sources);
    if (value !== undefined) given['default'] = { ...(given['default'] as object), [field]: value };
  }
  return given;
}

/** The source of a value for display, and the value there. */
function sourceOf(
  name: string,
  { flags, environment, file }: SettingSources,
  mustNotBeEmpty?: true,
): readonly [source: string, value: unknown] {
  const key = nameInWords(name, '_');
  const variable = variableOf(name);
  const candidates: readonly (readonly [string, unknown])[] = [
    [`--${nameInWords(name, '-')}`, flags[name as FlagName]],
    // As usual in cron tables and compose files.
    [variable, mustNotBeEmpty ? environment[variable] : environment[variable] || undefined],
    [`${file?.path}: ${key}`, file?.values[key]],
  ];
  return candidates.find(([, value]) => value !== undefined) ?? ['', undefined];
}

function resolvedValue(
  name: string,
  {
    parse,
    isMap,
    isCommand,
    mustNotBeEmpty,
  }: Pick<Setting, 'parse' | 'isMap' | 'isCommand' | 'mustNotBeEmpty'>,
  sources: SettingSources,
): unknown {
  const [source, value] = sourceOf(name, sources, mustNotBeEmpty);
  if (value === undefined) return undefined;
  const given = isMap ? listedPairs(value) : [isCommand ? commandInOneLine(value) : value];
  const text = given.join('\n');
  try {
    if (given.length === 0 || given.some((each) => isBlankSetting(String(each))))
      throw new RangeError('it must not be empty');
    if (given.some((each) => typeof each === 'object'))
      throw new RangeError(isCommand ? 'write a text, or a list of texts' : 'write a text or a number');
    return parse(text);
  } catch (error) {
    throw usageError(
      'INVALID_SETTING',
      `${source}${isCommand ? '' : ` "${text}"`}: ${(error as Error).message}.`,
    );
  }
}

function commandInOneLine(command: unknown): unknown {
  const isList = Array.isArray(command) && command.every((word) => typeof word === 'string');
  return isList ? command.map(shellWord).join(' ') : command;
}

/** Whether a text is blank, as from an unset variable of a script. A tab may be a delimiter. */
export function isBlankSetting(value: string): boolean {
  return isBlank(value) && value !== '\t';
}

function listedPairs(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return [value];
  return Object.entries(value).map((pair) => pair.join('='));
}

/** Editors read `$schema`, people keys that begin with `//`. */
function isKeyForReaders(key: string): boolean {
  return key === '$schema' || key.startsWith('//');
}

function rejectUnknownKeys(
  path: string,
  values: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): void {
  const names = [...Object.keys(settings).map((name) => nameInWords(name, '_')), ...fields];
  for (const key of Object.keys(values)) {
    if (!names.includes(key) && !isKeyForReaders(key)) {
      const hint = /token/i.test(key)
        ? ' This file must not contain a token: use CQBATCH_TOKEN, token_file or token_command.'
        : '';
      throw usageError(
        'INVALID_SETTING',
        `${path}: unknown key "${key}"; use one of ${names.join(', ')}.${hint}`,
      );
    }
  }
}
