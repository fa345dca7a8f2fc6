import { usageError } from '../errors.ts';
import type { RowOptions } from '../run/plan/run-manifest.ts';
import type { Budget } from '../run/record/budget.ts';
import type { RunOptions } from '../run/record/record.ts';
import type { Setting } from './setting.ts';
import { settings as settingTable } from './setting-table.ts';
import { type CallOptionName, defaults, isCallOption, type SettingName, type Settings } from './settings.ts';

/** What a command line says of one run, and is no setting. */
export interface RunFlags {
  readonly operation?: string;
  readonly trim?: boolean;
  readonly saveResponses?: boolean;
  readonly html?: boolean;
}

/** How a new run reads its rows and calls the API, wherever that is. */
export function newRunOptions(flags: RunFlags, settings: Settings): Omit<RunOptions, 'baseUrl'> {
  return {
    onConflict: defaults.onConflict,
    ...rowOptions(flags, settings),
    ...callOptions(settings),
    ...savingOptions(flags),
    ...canaryOptions(settings, settings.onConflict),
  };
}

/**
 * The canary of a new run, if it has one.
 *
 * @throws a usage error for a random canary of a run that keeps the order of its rows
 */
export function canaryOptions(
  { canary, canaryMaxFailures: maxFailures = defaults.canaryMaxFailures }: Settings,
  onConflict: RunOptions['onConflict'],
): Pick<RunOptions, 'canary'> {
  if (canary === undefined) return {};
  if (!canary.random || onConflict !== 'in-order') return { canary: { ...canary, maxFailures } };
  throw usageError(
    'INVALID_SETTING',
    `--canary ${canary.rows},random could call a later row of a subject before an earlier one, which --on-conflict in-order ` +
      `rules out: use --canary ${canary.rows}.`,
  );
}

/** What is kept of a run. A run that is made of another run keeps answers and leaves the page out if that run did. */
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
  return { clearToken: defaults.clearToken, ...givenRowOptions(flags, settings) };
}

/** The same, without what is not given. */
export function givenRowOptions({ operation, trim }: RunFlags, settings: Settings): Partial<RowOptions> {
  return {
    ...(operation !== undefined && { operation }),
    ...optionsOf<Partial<RowOptions>>('rowOption', settings),
    ...(trim && { trim }),
  };
}

/** How much of a run is done before it stops by itself. The zone of a time is its own, else that of the settings. */
export function budgetOf({ maxRows, maxDuration: maxDurationMs, stopAt, tz }: Settings): Budget | undefined {
  const budget: Budget = {
    ...(maxRows !== undefined && { maxRows }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(stopAt !== undefined && { stopAt: { ...(tz !== undefined && { timeZone: tz }), ...stopAt } }),
  };
  return Object.keys(budget).length === 0 ? undefined : budget;
}

/** The options of a run that settings give as they are: what is said now, else what was said before. */
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
