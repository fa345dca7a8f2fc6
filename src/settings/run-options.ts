import { usageError } from '../base/errors/errors.ts';
import type { RowOptions } from '../engine/run/plan/open-manifest.ts';
import type { Budget } from '../engine/run/record/budget.ts';
import type { RunOptions } from '../engine/run/record/record.ts';
import type { Setting } from './setting.ts';
import { settings as settingTable } from './setting-table.ts';
import { type CallOptionName, defaults, isCallOption, type SettingName, type Settings } from './settings.ts';

export interface RunFlags {
  readonly operation?: string | undefined;
  readonly trim?: boolean | undefined;
  readonly saveResponses?: boolean | undefined;
  readonly html?: boolean | undefined;
}

export function newRunOptions(flags: RunFlags, settings: Settings): Omit<RunOptions, 'baseUrl'> {
  return {
    onConflict: settings.onConflict ?? defaults.onConflict,
    ...callOptions(settings),
    ...groupOption(settings),
    ...savingOptions(flags),
    ...canaryOptions(settings, settings.onConflict ?? defaults.onConflict),
  };
}

export function groupOption({ rateGroup }: Pick<RunOptions, 'rateGroup'>): Pick<RunOptions, 'rateGroup'> {
  return rateGroup === undefined ? {} : { rateGroup };
}

/** @throws a usage error for a random canary of a run that keeps the order of its rows */
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

/** A run made from a former one saves responses and makes a page like it. */
export function savingOptions(
  { saveResponses = false, html = true }: RunFlags,
  former: Pick<RunOptions, 'saveResponses' | 'html'> = {},
): Pick<RunOptions, 'saveResponses' | 'html'> {
  return {
    ...((saveResponses || former.saveResponses) && { saveResponses: true }),
    ...((!html || former.html === false) && { html: false }),
  };
}

/** @throws a usage error for a comparison of rows that change one entry one after the other */
export function rowOptions(flags: RunFlags, settings: Settings): RowOptions {
  if (settings.compare && settings.onConflict === 'in-order')
    throw usageError(
      'INVALID_SETTING',
      'compare and on_conflict in-order exclude each other: a comparison knows each entry as it is before the run, not after another ' +
        'row. Use on_conflict last, or leave out one of them.',
    );
  return { clearToken: defaults.clearToken, ...givenRowOptions(flags, settings) };
}

/** The options for reading rows like `rowOptions`, without defaults. */
export function givenRowOptions({ operation, trim }: RunFlags, settings: Settings): Partial<RowOptions> {
  return {
    ...(operation !== undefined && { operation }),
    ...optionsOf<Partial<RowOptions>>('rowOption', settings),
    ...(trim && { trim }),
  };
}

/** `stopAt` may have a time zone of its own. */
export function budgetOf({ maxRows, maxDuration: maxDurationMs, stopAt, tz }: Settings): Budget | undefined {
  const budget: Budget = {
    ...(maxRows !== undefined && { maxRows }),
    ...(maxDurationMs !== undefined && { maxDurationMs }),
    ...(stopAt !== undefined && { stopAt: { ...(tz !== undefined && { timeZone: tz }), ...stopAt } }),
  };
  return Object.keys(budget).length === 0 ? undefined : budget;
}

/** Options that store settings unchanged: the given values or else the former values. */
function optionsOf<Options extends object>(
  kind: 'rowOption' | 'callOption',
  given: Settings,
  former: Readonly<Record<string, unknown>> = {},
): Options {
  const options: Record<string, unknown> = {};
  for (const [name, { [kind]: option }] of Object.entries<Setting>(settingTable)) {
    if (option === undefined) continue;
    const ofSetting = given[name as SettingName];
    const value = ofSetting === undefined ? former[option] : ofSetting;
    // A given value of `none` removes the former value.
    if (value !== undefined && value !== null) options[option] = value;
  }
  return options as Options;
}

type CallOptions = Pick<RunOptions, CallOptionName>;

/** Options for calling the API and writing the report: given values, or else former ones, or the defaults. */
export function callOptions(settings: Settings, former?: CallOptions): CallOptions {
  if (settings.concurrency === 0) {
    throw usageError('INVALID_SETTING', '--concurrency 0 only works with "cqbatch worker --coordinate".');
  }
  return former === undefined
    ? optionsOf('callOption', { ...defaults, ...settings })
    : optionsOf('callOption', settings, former);
}

/** The options of a run that goes on: given values replace only options for calling the API. */
export function changedOptions(former: RunOptions, settings: Settings): RunOptions {
  const kept = Object.entries(former).filter(([option]) => !isCallOption(option));
  return { ...(Object.fromEntries(kept) as RunOptions), ...callOptions(settings, former) };
}
