import { shellWord } from '../../base/text/command-words.ts';
import { nameOfDelimiter } from '../../base/text/delimiter.ts';
import { typedDuration } from '../../base/text/format.ts';
import type { RowOptions } from '../../engine/run/plan/open-manifest.ts';
import type { RunRecord } from '../../engine/run/record/record.ts';
import { nameInWords, optionInWords } from '../../settings/settings.ts';

type PlanOptions = RunRecord['options'] & RowOptions;

interface OptionTexts {
  /** Options as a user types them: `--max-failures 5%`, `--rate auto..20/s`. */
  readonly flags: readonly string[];
  /** Options without a flag, as `config.json` names them: `backoff 1s`. */
  readonly settings: readonly string[];
}

export function optionTexts({ baseUrl: _, ...options }: Partial<PlanOptions>): OptionTexts {
  const flags: string[] = [];
  const settings: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    const option = optionInWords(name);
    if (value === true) flags.push(option);
    else if (name === 'html' && value === false) flags.push('--no-html');
    else if (value === false) settings.push(`${nameInWords(name, '_')} no`);
    else if (!option.startsWith('--')) settings.push(`${option} ${valueText(name, value)}`);
    else flags.push(...valuesOf(name, value).map((text) => `${option} ${shellWord(text)}`));
  }
  return { flags, settings };
}

/** The value of an option as a user types it: `auto..20/s`, `60s` */
export function valueText(name: string, value: unknown): string {
  return value === undefined ? 'not given' : valuesOf(name, value).join(' ');
}

/** The values of an option as a user types them, one for each time that the option is given. */
function valuesOf(name: string, value: unknown): readonly string[] {
  if (name === 'delimiter') return [nameOfDelimiter(String(value))];
  if (name.endsWith('Ms')) return [typeof value === 'number' ? typedDuration(value) : String(value)];
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'object' || value === null) return [`${value}`];
  if ('percent' in value) return [`${value.percent}%`];
  if ('text' in value) return [`${value.text}`];
  if ('rows' in value) {
    const { rows, ...ways } = value;
    const words = Object.entries(ways).flatMap(([way, isChosen]) => (isChosen === true ? way : []));
    return [[rows, ...words].join(',')];
  }
  return Object.entries(value).map((pair) => pair.join('='));
}
