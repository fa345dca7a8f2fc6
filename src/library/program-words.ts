import { CqbatchError } from '../base/errors/errors.ts';
import type { Setting } from '../settings/setting.ts';
import { settings } from '../settings/setting-table.ts';
import { isOfBatch, nameInWords, type SettingName } from '../settings/settings.ts';

/** Options of commands that are no settings of a batch: with the value true, or another one. */
const commandOptions: Readonly<Record<string, string>> = {
  'skip-invalid': 'skipInvalid',
  trim: 'trim',
  'or-resume': 'orResume',
};

/** What a program has in place of other options. */
const namesInPrograms: Readonly<Record<string, string>> = {
  operation: 'operation',
  operations: 'operations',
  'state-dir': 'stateDir',
  'run-id': 'runId',
  reason: 'reason',
  'base-url': 'baseUrl of the client',
  timeout: 'timeouts of the client',
  'token-file': 'tokenFromFile',
  'token-command': 'tokenFromCommand',
};

/** Advice that only a command can follow. */
const commandAdvice = / \(--wait [^)]*\)/g;

const settingByFlag = new Map(
  (Object.keys(settings) as SettingName[]).map((name) => [nameInWords(name, '-'), name] as const),
);

/** `pass --on-conflict last` becomes `pass settings: { on_conflict: 'last' }`. Commands to type stay as they are. */
export function inProgramWords(text: string): string {
  const options = /"?cqbatch [^"\n]*"?|(\b(?:pass|or|with) )?--([a-z][a-z-]*[a-z])(?: ("[^"]*"|[\w%-]+))?/g;
  return text
    .replace(commandAdvice, '')
    .replace(options, (whole: string, before = '', flag?: string, next?: string) => {
      const own = commandOptions[flag ?? ''];
      const name = settingByFlag.get(flag ?? '');
      const after = next === undefined ? '' : ` ${next}`;
      const here = namesInPrograms[flag ?? ''];
      if (here !== undefined) return `${before}${here}${after}`;
      if (own !== undefined) return `${before}${own}${before === '' ? '' : ': true'}${after}`;
      if (name === undefined || !isOfBatch(name)) return whole;
      const { value }: Setting = settings[name];
      const key = nameInWords(name, '_');
      if (before === '' || (value !== undefined && next === undefined))
        return `${before}settings.${key}${after}`;
      if (value === undefined) return `${before}settings: { ${key}: true }${after}`;
      const given = /^\d+$/.test(next ?? '') ? next : `'${next?.replaceAll('"', '')}'`;
      return `${before}settings: { ${key}: ${given} }`;
    });
}

export async function withProgramWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CqbatchError) error.message = inProgramWords(error.message);
    throw error;
  }
}
