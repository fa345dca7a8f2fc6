import { usageError } from '../errors.ts';
import { defaultClearToken } from '../manifest/manifest.ts';
import type { RowOptions } from '../run/plan/run-manifest.ts';
import type { Budget } from '../run/record/budget.ts';
import type { RunOptions } from '../run/record/record.ts';
import { type Setting, settings as settingTable } from './setting-table.ts';
import { type CallOptionName, defaults, isCallOption, type SettingName, type Settings } from './settings.ts';

/** What is said of one run, and has no place among the settings. */
export interface RunFlags {
  readonly operation?: string;
  readonly clearToken?: string;
  readonly trim?: boolean;
  /** Whether the rows of the canary are a sample; else they are the first ones. */
  readonly canaryRandom?: boolean;
  readonly saveResponses?: boolean;
  readonly html?: boolean;
  /** The time zone, where it is said of this run. */
  readonly tz?: string | undefined;
}

/** How a new run reads its rows and calls the API, wherever that is. */
export function newRunOptions(flags: RunFlags, settings: Settings): Omit<RunOptions, 'baseUrl'> {
  return {
    onConflict: defaults.onConflict,
    ...rowOptions(flags, settings),
    ...callOptions(settings),
    ...savingOptions(flags),
    ...canaryOptions(flags, settings, settings.onConflict),
  };
}

/**
 * The canary of a new run, if it has one.
 *
 * @throws a usage error when something is said of a canary that there is not, or can't be.
 */
export function canaryOptions(
  { canaryRandom }: RunFlags,
  { canary: rows, canaryMaxFailures: maxFailures = defaults.canaryMaxFailures }: Settings,
  onConflict: RunOptions['onConflict'],
): Pick<RunOptions, 'canary'> {
  if (canaryRandom && onConflict === 'in-order') {
    throw usageError(
      'INVALID_SETTING',
      '--canary-random could call a later row of a subject before an earlier one, which --on-conflict in-order rules out: use ' +
        '--canary alone.',
    );
  }
  if (rows !== undefined) return { canary: { rows, ...(canaryRandom && { random: true }), maxFailures } };
  if (!canaryRandom) return {};
  throw usageError('INVALID_SETTING', '--canary-random: say how many rows, too: --canary 10.');
}

/** What is kept of a run: once answers are, they are in all that is made of it; a page that was not wanted is not either. */
export function savingOptions(
  { saveResponses = false, html = true }: RunFlags,
  before: Pick<RunOptions, 'saveResponses' | 'html'> = {},
): Pick<RunOptions, 'saveResponses' | 'html'> {
  return {
    ...((saveResponses || before.saveResponses) && { saveResponses: true }),
    ...((!html || before.html === false) && { html: false }),
  };
}

/** How the rows of a manifest are read. */
export function rowOptions(flags: RunFlags, settings: Settings): RowOptions {
  const { operation, clearToken = defaultClearToken, trim = false } = flags;
  return {
    ...(operation !== undefined && { operation }),
    ...optionsOf<RowOptions>('rowOption', settings),
    ...(trim && { trim }),
    clearToken,
  };
}

/** The same, as far as it is said now. */
export function givenRowOptions(flags: RunFlags, settings: Settings): Partial<RowOptions> {
  const { clearToken, ...given } = rowOptions(flags, settings);
  return { ...given, ...(flags.clearToken !== undefined && { clearToken }) };
}

/**
 * How much of a run is done before it stops by itself.
 *
 * @throws a usage error for a time zone without a time.
 */
export function budgetOf({ tz }: RunFlags, settings: Settings): Budget | undefined {
  const { maxRows, maxDuration: maxDurationMs, stopAt: time, tz: timeZone } = settings;
  if (tz !== undefined && time === undefined)
    throw usageError('INVALID_SETTING', '--tz is the time zone of --stop-at, which is missing.');
  const budget: Budget = {
    ...(maxRows !== undefined && { maxRows }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(time !== undefined && { stopAt: { time, ...(timeZone !== undefined && { timeZone }) } }),
  };
  return Object.keys(budget).length === 0 ? undefined : budget;
}

/** Those options of a run that settings have as they are: what is said now, else what was said before. */
function optionsOf<Options extends object>(
  kind: 'rowOption' | 'callOption',
  given: Settings,
  before: Readonly<Record<string, unknown>> = {},
): Options {
  const options: Record<string, unknown> = {};
  for (const [name, { [kind]: option }] of Object.entries<Setting>(settingTable)) {
    if (option === undefined) continue;
    const said = given[name as SettingName];
    const value = said === undefined ? before[option] : said;
    // `none` takes away what was said before.
    if (value !== undefined && value !== null) options[option] = value;
  }
  return options as Options;
}

type CallOptions = Pick<RunOptions, CallOptionName>;

/** How the API is called and the report is written: what is said now, else what was said before or is usual. */
export function callOptions(settings: Settings, before?: CallOptions): CallOptions {
  if (settings.concurrency === 0) {
    throw usageError('INVALID_SETTING', '--concurrency 0 only works with "cqbatch worker --coordinate".');
  }
  return before === undefined
    ? optionsOf('callOption', { ...defaults, ...settings })
    : optionsOf('callOption', settings, before);
}

/** The options of a run that was planned before, with what is said now of how the API is called. */
export function changedOptions(before: RunOptions, settings: Settings): RunOptions {
  const others = Object.entries(before).filter(([option]) => !isCallOption(option));
  return { ...(Object.fromEntries(others) as RunOptions), ...callOptions(settings, before) };
}
