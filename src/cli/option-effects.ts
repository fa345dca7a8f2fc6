import { nameInWords, type SettingName, type Settings } from '../index.ts';
import { type Flags, loadSettings } from './config/load.ts';
import type { OptionName } from './option-table.ts';

/** Options by the option that they need, or that takes their effect. */
type OptionsBy = Readonly<Partial<Record<OptionName, readonly OptionName[]>>>;

/** Options of a command that may have no effect. */
export interface Unused {
  /** By the option that they need. */
  readonly without?: OptionsBy;
  /** By the option that takes their effect. */
  readonly beside?: OptionsBy;
}

/** In every command. */
export const unusedAnywhere = {
  without: { healthPort: ['healthHost'], queue: ['queuePasswordFile'] },
  beside: { logLevel: ['verbose'], quiet: ['verbose'] },
} as const satisfies Unused;

/** Settings by the setting that they need. */
export const unusedSettings: Readonly<Partial<Record<SettingName, readonly SettingName[]>>> = {
  healthPort: ['healthHost'],
  queue: ['queuePasswordFile', 'queuePrefix'],
  notifyUrl: ['notifyOn', 'notifySecretFile'],
};

/** Which of the typed options have no effect: a sentence for each. Another source may have what they need. */
export async function withoutEffect(unused: Unused, flags: Flags): Promise<readonly string[]> {
  const all = [unusedAnywhere, unused];
  const lacking = all.flatMap(({ without }) => pairsIn(without, flags, (other) => !(other in flags)));
  const settings = lacking.length === 0 ? {} : await loadSettings(flags);
  return [
    ...lacking
      .filter(([, other]) => settings[other as SettingName] === undefined)
      .map(([name, other]) => `${option(name)} has no effect without ${option(other)}.`),
    ...all
      .flatMap(({ beside }) => pairsIn(beside, flags, (other) => other in flags))
      .map(([name, other]) => `${option(name)} has no effect with ${option(other)}.`),
  ];
}

/** Which of the given settings have no effect: a sentence for each. */
export function settingsWithoutEffect(settings: Settings): readonly string[] {
  const key = (name: string): string => nameInWords(name, '_');
  return pairsIn(unusedSettings, settings, (other) => !(other in settings)).map(
    ([name, other]) => `${key(name)} has no effect without ${key(other)}`,
  );
}

function pairsIn(
  by: Readonly<Partial<Record<string, readonly string[]>>> = {},
  given: object,
  isSo: (other: string) => boolean,
): readonly (readonly [name: string, other: string])[] {
  return Object.entries(by).flatMap(([other, names = []]) =>
    isSo(other) ? names.filter((name) => name in given).map((name) => [name, other] as const) : [],
  );
}

function option(name: string): string {
  return `--${nameInWords(name, '-')}`;
}
