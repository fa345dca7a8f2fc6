import { isDeepStrictEqual } from 'node:util';
import { usageError } from '../../base/errors/errors.ts';
import { type Attribution, maxReasonLength, withActor } from '../../domain/actor.ts';
import { parseBaseUrl } from '../../engine/api/base-url.ts';
import { nextTimeOfDay } from '../../engine/run/record/budget.ts';
import type { RunOptions } from '../../engine/run/record/record.ts';
import { budgetOf, canaryOptions, newRunOptions } from '../../settings/run-options.ts';
import { flagWords, type Settings } from '../../settings/settings.ts';
import type { Flags } from '../config.ts';
import type { CommandContext, CommandInput } from '../context.ts';
import { executingGroups, planningGroups } from '../option-groups.ts';
import type { OptionName } from '../option-table.ts';

/** Whether this process calls the API. @throws a usage error when neither this process nor workers can */
export function callsHere({ flags: { worker = true }, settings: { queue } }: CommandContext): boolean {
  if (worker || queue !== undefined) return worker;
  throw usageError(
    'WORKER_MISSING',
    "Other workers can't use the embedded datastore: --no-worker needs a shared datastore (--queue redis://…).",
  );
}

/** The user and the reason of a change. @throws a usage error for a reason that is too long, or missing although required */
export function attributionOf({
  flags: { reason },
  settings,
}: Pick<CommandInput, 'flags' | 'settings'>): Attribution {
  const text = reason?.trim();
  if (text === undefined && settings.requireReason)
    throw usageError('REASON_MISSING', 'The settings require a reason: pass --reason "why you do this".');
  if (text === undefined || (text !== '' && text.length <= maxReasonLength)) return withActor(text);
  const problem = text === '' ? 'is empty' : `has ${text.length} characters`;
  throw usageError('INVALID_SETTING', `--reason ${problem}: write up to ${maxReasonLength}.`);
}

export function parsedArgument<Value>(what: string, text: string, parse: (text: string) => Value): Value {
  try {
    return parse(text);
  } catch (error) {
    throw usageError('INVALID_SETTING', `${what} "${text}": ${(error as Error).message}.`);
  }
}

/** Reads a SHA-256 that may be written as in `summary.json`. @returns 64 lowercase digits */
export function digestIn(option: string, text: string): string {
  const [, digest] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text.trim()) ?? [];
  if (digest !== undefined) return digest.toLowerCase();
  throw usageError('INVALID_SETTING', `${option} "${text}": write all 64 hexadecimal digits of a SHA-256.`);
}

export function baseUrlOf(
  { allowInsecureHttp }: Pick<Flags, 'allowInsecureHttp'>,
  { baseUrl }: Settings,
): string | undefined {
  return baseUrl === undefined ? undefined : parseBaseUrl(baseUrl, { allowInsecureHttp });
}

export function runOptions({ flags, settings, planFile }: CommandContext): RunOptions {
  // A plan file has all options of its run. Only the canary may be set when the plan runs, to be more careful.
  if (planFile !== undefined)
    return { ...planFile.options, ...canaryOptions(settings, planFile.options.onConflict) };
  const baseUrl = baseUrlOf(flags, settings);
  if (baseUrl === undefined) {
    throw usageError(
      'BASE_URL_MISSING',
      'The address of the API is missing: set CQBATCH_BASE_URL or pass --base-url https://….',
    );
  }
  return {
    baseUrl,
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
    ...newRunOptions(flags, settings),
  };
}

export async function sayIfTomorrow(context: Pick<CommandInput, 'terminal' | 'settings'>): Promise<void> {
  const text = await tomorrowText(context);
  if (text !== undefined) context.terminal.say(text);
}

/** Says that `--stop-at` means tomorrow, because the time has passed today. Undefined if it means today. */
export async function tomorrowText({
  settings,
}: Pick<CommandInput, 'settings'>): Promise<string | undefined> {
  const { stopAt } = budgetOf(settings) ?? {};
  if (stopAt === undefined) return undefined;
  const now = new Date();
  const { timeZone } = stopAt;
  const dayOf = (time: Date): string => time.toLocaleDateString('en-CA', { timeZone });
  if (dayOf(await nextTimeOfDay(stopAt, now)) === dayOf(now)) return undefined;
  return `--stop-at ${stopAt.time} has passed today: the run stops at ${stopAt.time} tomorrow.`;
}

/** Options of a plan itself, and a command whose arguments may be secret: printed commands also stand on pages. */
const unprintedOptions: readonly string[] = [
  'tokenCommand',
  'json',
  'quiet',
  'verbose',
  'plan',
  'out',
  'open',
  'planPage',
] satisfies readonly OptionName[];

/** The options of a run as words to type. */
export function runWords(flags: Flags): readonly string[] {
  return flagWords(flagsWhere(flags, (name) => !unprintedOptions.includes(name)));
}

const planOptions: readonly string[] = Object.values(planningGroups).flat();

/** Options of runs that `plan` has not. */
const executingOptions: readonly string[] = [
  ...['yes', 'runId', 'orResume', 'resumeHalted', 'wait', 'once', 'settle'],
  ...['healthPort', 'healthHost', 'healthName'],
  ...Object.values(executingGroups).flat(),
].filter((name) => !planOptions.includes(name));

/** The options with which `plan` shows what a run with these flags would do. */
export function planWords(flags: Flags): readonly string[] {
  return runWords(flagsWhere(flags, (name) => !executingOptions.includes(name)));
}

export function flagsWhere(flags: Flags, isWanted: (name: string) => boolean): Flags {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => isWanted(name)));
}

interface DifferingOption {
  readonly name: string;
  readonly valueBefore: unknown;
  readonly valueNow: unknown;
}

/** The options that differ between two records, or that only one of them has. */
export function differingOptions(before: object, now: object): readonly DifferingOption[] {
  const valuesBefore: Readonly<Record<string, unknown>> = { ...before };
  const valuesNow: Readonly<Record<string, unknown>> = { ...now };
  return [...new Set([...Object.keys(valuesNow), ...Object.keys(valuesBefore)])]
    .map((name) => ({ name, valueBefore: valuesBefore[name], valueNow: valuesNow[name] }))
    .filter((option) => !isDeepStrictEqual(option.valueBefore, option.valueNow));
}
