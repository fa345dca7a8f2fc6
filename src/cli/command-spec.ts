import { nameInWords, type SettingName, type Settings, settingNeeds } from '../settings/settings.ts';
import { type Flags, loadSettings } from './config.ts';
import type { ExitCode } from './exit-codes.ts';
import type { OptionGroups } from './option-groups.ts';
import type { OptionName, OwnMeanings } from './option-table.ts';

export interface NamedSpec {
  readonly name: string;
  readonly description: string;
  readonly details?: string;
  readonly examples?: readonly (readonly [command: string, purpose: string])[];
}

export interface CommandSpec extends NamedSpec, OwnMeanings {
  readonly arguments?: readonly (readonly [name: string, description: string])[];
  readonly options?: OptionGroups;
  /** The options without effect for this command, in addition to `unusedAnywhere`. */
  readonly unused?: UnusedOptions;
  /** Loads the command's code only when the command runs, to keep `cqbatch --help` fast. */
  readonly load: () => Promise<Action>;
}

export interface CommandGroupSpec extends NamedSpec {
  readonly commands: readonly CommandSpec[];
}

type Action =
  | ((flags: Flags) => Promise<ExitCode>)
  | ((argument: string, flags: Flags) => Promise<ExitCode>)
  | ((argument: string, second: string, flags: Flags) => Promise<ExitCode>);

/** The argument that names a run. @param fits which runs the command can use */
export function runArgument(fits = ''): readonly [name: string, description: string] {
  return ['[run]', `id of a run, or a part that no other id has; default: the newest run${fits}`];
}

type OptionsBy = Readonly<Partial<Record<OptionName, readonly OptionName[]>>>;

/** Options that may have no effect, by the option that decides whether they have one. */
export interface UnusedOptions {
  /** Options that have no effect without the option of their group. */
  readonly lackingOption?: OptionsBy;
  /** Options that the option of their group overrides. */
  readonly overriddenBy?: OptionsBy;
}

const unusedAnywhere: UnusedOptions = { overriddenBy: { logLevel: ['verbose'], quiet: ['verbose'] } };

type Pair = readonly [name: string, other: string];

export function unusedPairs({
  lackingOption,
  overriddenBy,
}: UnusedOptions): Readonly<Record<keyof UnusedOptions, readonly Pair[]>> {
  return {
    lackingOption: [...settingNeeds, ...pairsIn(lackingOption)],
    overriddenBy: [...pairsIn(unusedAnywhere.overriddenBy), ...pairsIn(overriddenBy)],
  };
}

/** Returns a sentence for each typed option without effect. The option that a typed one needs may also come from the environment. */
export async function textsOfUnused(unused: UnusedOptions, flags: Flags): Promise<readonly string[]> {
  const { lackingOption, overriddenBy } = unusedPairs(unused);
  const lacking = lackingOption.filter(([name, other]) => name in flags && !(other in flags));
  const settings = lacking.length === 0 ? {} : await loadSettings(flags);
  return [
    ...lacking
      .filter(([, other]) => settings[other as SettingName] === undefined)
      .map(([name, other]) => `${flagInWords(name)} has no effect without ${flagInWords(other)}.`),
    ...overriddenBy
      .filter(([name, other]) => name in flags && other in flags)
      .map(([name, other]) => `${flagInWords(name)} has no effect with ${flagInWords(other)}.`),
  ];
}

export function settingsWithoutEffect(settings: Settings): readonly string[] {
  const key = (name: string): string => nameInWords(name, '_');
  return settingNeeds
    .filter(([name, other]) => name in settings && !(other in settings))
    .map(([name, other]) => `${key(name)} has no effect without ${key(other)}`);
}

function pairsIn(by: OptionsBy = {}): readonly Pair[] {
  return Object.entries(by).flatMap(([other, names = []]) => names.map((name): Pair => [name, other]));
}

function flagInWords(name: string): string {
  return `--${nameInWords(name, '-')}`;
}
