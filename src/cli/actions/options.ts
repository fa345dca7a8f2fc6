import { type Attribution, attributed, maxReasonLength } from '../../actor.ts';
import { parseBaseUrl } from '../../api/base-url.ts';
import { usageError } from '../../errors.ts';
import type { Budget } from '../../run/budget.ts';
import type { RunOptions } from '../../run/record.ts';
import type { RowOptions } from '../../run/run-manifest.ts';
import { defaultClearToken, type Flags } from '../config/load.ts';
import { defaults, nameInWords, type Settings } from '../config/settings.ts';
import type { Workplace } from '../context.ts';

/**
 * Whether this process calls the API itself, or leaves that to workers elsewhere.
 *
 * @throws a usage error when there can be no others.
 */
export function calls({ flags: { worker = true }, settings: { queue } }: Workplace): boolean {
  if (worker || queue !== undefined) return worker;
  throw usageError(
    'WORKER_MISSING',
    'Nobody else can work on the embedded datastore: --no-worker needs a shared one (--queue redis://…).',
  );
}

/**
 * Who runs this command, and why.
 *
 * @throws a usage error for a reason that is too long to be kept.
 */
export function attributionOf({ reason }: Pick<Flags, 'reason'>): Attribution {
  const text = reason?.trim();
  if (text === undefined || (text !== '' && text.length <= maxReasonLength)) return attributed(text);
  const problem = text === '' ? 'is empty' : `has ${text.length} characters`;
  throw usageError('INVALID_SETTING', `--reason ${problem}: write up to ${maxReasonLength}.`);
}

/** The base URL, if somebody says where the API is. */
export function baseUrlOf(
  { allowInsecureHttp }: Pick<Flags, 'allowInsecureHttp'>,
  { baseUrl }: Settings,
): string | undefined {
  return baseUrl === undefined ? undefined : parseBaseUrl(baseUrl, { allowInsecureHttp });
}

/** @throws a usage error when nobody says where the API is. */
export function runOptions({ flags, settings, approved }: Workplace): RunOptions {
  // Found out before anything is done.
  budgetOf(flags, settings);
  // Whoever carries out a plan may be more careful than it asks for.
  if (approved !== undefined)
    return { ...approved.options, ...canaryOptions(flags, settings, approved.options.onConflict) };
  const baseUrl = baseUrlOf(flags, settings);
  if (baseUrl === undefined) {
    throw usageError(
      'BASE_URL_MISSING',
      'Where is the API? Set CQBATCH_BASE_URL or pass --base-url https://….',
    );
  }
  return {
    baseUrl,
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
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
  { canaryRandom }: Flags,
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
  { saveResponses = false, html = true }: Flags,
  before: Pick<RunOptions, 'saveResponses' | 'html'> = {},
): Pick<RunOptions, 'saveResponses' | 'html'> {
  return {
    ...((saveResponses || before.saveResponses) && { saveResponses: true }),
    ...((!html || before.html === false) && { html: false }),
  };
}

/** How the rows of a manifest are read. */
export function rowOptions(
  { operation, clearToken = defaultClearToken, trim = false }: Flags,
  { where, default: byField, userId, map, encoding, skipLines, rowsAt, sheet, onConflict }: Settings,
): RowOptions {
  const all = { ...byField, ...(userId !== undefined && { user_id: userId }) };
  return {
    ...(operation !== undefined && { operation }),
    ...(where !== undefined && { where: [...where] }),
    ...(Object.keys(all).length > 0 && { default: all }),
    ...(map !== undefined && { map }),
    ...(encoding !== undefined && { encoding }),
    ...(skipLines !== undefined && { skipLines }),
    ...(rowsAt !== undefined && { rowsAt }),
    ...(sheet !== undefined && { sheet }),
    ...(trim && { trim }),
    ...(onConflict !== undefined && { onConflict }),
    clearToken,
  };
}

/** The same, as far as it is said now. */
export function givenRowOptions(flags: Flags, settings: Settings): Partial<RowOptions> {
  const { clearToken, ...given } = rowOptions(flags, settings);
  return { ...given, ...(flags.clearToken !== undefined && { clearToken }) };
}

/** What is said of this command, and not of the run that is planned. */
const ownFlags: ReadonlySet<string> = new Set<keyof Flags>(['json', 'quiet', 'out', 'approvedBy']);

/** The words of a command line that say again what flags said of the run. */
export function runWords(flags: Flags): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || ownFlags.has(name)) return [];
    const words = nameInWords(name, '-');
    if (value === true) return [`--${words}`];
    if (value === false) return [`--no-${words}`];
    return [value].flat().flatMap((text) => [`--${words}`, String(text)]);
  });
}

/**
 * How much of a run is done before it stops by itself.
 *
 * @throws a usage error for a time zone without a time.
 */
export function budgetOf({ tz }: Flags, settings: Settings): Budget | undefined {
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

type CallOptions = Pick<
  RunOptions,
  | 'rate'
  | 'concurrency'
  | 'attempts'
  | 'timeoutMs'
  | 'backoffMs'
  | 'maxFailures'
  | 'maxFailuresAfter'
  | 'maxConsecutiveFailures'
  | 'maxOutageMs'
  | 'delimiter'
>;

const usualCalls: CallOptions = {
  rate: defaults.rate,
  concurrency: defaults.concurrency,
  attempts: defaults.attempts,
  timeoutMs: defaults.timeout,
  backoffMs: defaults.backoff,
  maxFailures: defaults.maxFailures,
  maxFailuresAfter: defaults.maxFailuresAfter,
  maxOutageMs: defaults.maxOutage,
};

/** How the API is called and the report is written: what was said now, else what was said before. */
export function callOptions(settings: Settings, before = usualCalls): CallOptions {
  const rate = settings.rate === undefined ? before.rate : settings.rate;
  const maxFailures = settings.maxFailures ?? before.maxFailures;
  const maxFailuresAfter = settings.maxFailuresAfter ?? before.maxFailuresAfter;
  const { maxConsecutiveFailures = before.maxConsecutiveFailures } = settings;
  const delimiter = settings.delimiter ?? before.delimiter;
  const maxOutageMs = settings.maxOutage === undefined ? before.maxOutageMs : settings.maxOutage;
  if (settings.concurrency === 0) {
    throw usageError(
      'INVALID_SETTING',
      '--concurrency 0 makes sense only for "cqbatch worker --coordinate".',
    );
  }
  return {
    concurrency: settings.concurrency ?? before.concurrency,
    attempts: settings.attempts ?? before.attempts,
    timeoutMs: settings.timeout ?? before.timeoutMs,
    backoffMs: settings.backoff ?? before.backoffMs,
    ...(rate && { rate }),
    ...(maxFailures !== undefined && { maxFailures }),
    ...(maxFailuresAfter !== undefined && { maxFailuresAfter }),
    ...(maxConsecutiveFailures && { maxConsecutiveFailures }),
    ...(maxOutageMs && { maxOutageMs }),
    ...(delimiter !== undefined && { delimiter }),
  };
}

/** The options of a run that was planned before, with what is said now of how the API is called. */
export function changedOptions(before: RunOptions, settings: Settings): RunOptions {
  // These can be taken away.
  const { rate: _rate, maxOutageMs: _maxOutageMs, ...others } = before;
  return { ...others, ...callOptions(settings, before) };
}
