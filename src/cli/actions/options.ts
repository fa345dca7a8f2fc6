import { parseBaseUrl } from '../../api/base-url.ts';
import { usageError } from '../../errors.ts';
import type { RunOptions } from '../../run/record.ts';
import type { CommonFlags } from '../config/load.ts';
import { defaults, type RawSettings, type Settings } from '../config/settings.ts';

/** Flags of the commands that read a manifest. */
export interface ManifestFlags extends CommonFlags, RawSettings {
  readonly operation?: string;
  readonly clearToken: string;
  readonly allowInsecureHttp?: boolean;
}

/** Flags of the commands that call the API. */
export interface CallFlags extends CommonFlags, RawSettings {
  readonly yes?: boolean;
  readonly skipInvalid?: boolean;
  readonly logLevel?: string;
  /** The id that the user chose for a new run. */
  readonly runId?: string;
  /** False with `--no-worker`: other processes call the API. */
  readonly worker?: boolean;
}

/**
 * Whether this process calls the API itself, or leaves that to workers elsewhere.
 *
 * @throws a usage error when there can be no others.
 */
export function calls({ worker = true }: CallFlags, { queue }: Settings): boolean {
  if (worker || queue !== undefined) return worker;
  throw usageError(
    'WORKER_MISSING',
    'Nobody else can work on the embedded datastore: --no-worker needs a shared one (--queue redis://…).',
  );
}

/** The base URL, if somebody says where the API is. */
export function baseUrlOf(
  flags: Pick<ManifestFlags, 'allowInsecureHttp'>,
  settings: Settings,
): string | undefined {
  if (settings.baseUrl === undefined) return undefined;
  return parseBaseUrl(settings.baseUrl, { allowInsecureHttp: flags.allowInsecureHttp });
}

/** @throws a usage error when nobody says where the API is. */
export function runOptions(flags: ManifestFlags, settings: Settings): RunOptions {
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
    ...(flags.operation !== undefined && { operation: flags.operation }),
    ...(settings.userId !== undefined && { userId: settings.userId }),
    clearToken: flags.clearToken,
    ...callOptions(settings, {
      rate: defaults.rate,
      concurrency: defaults.concurrency,
      attempts: defaults.attempts,
      timeoutMs: defaults.timeout,
      backoffMs: defaults.backoff,
      maxOutageMs: defaults.maxOutage,
    }),
  };
}

/** How long an outage is waited for, milliseconds; undefined: without end. */
export function maxOutageOf({ maxOutage }: Settings, usual: number | undefined): number | undefined {
  return maxOutage === undefined ? usual : (maxOutage ?? undefined);
}

type CallOptions = Pick<
  RunOptions,
  'rate' | 'concurrency' | 'attempts' | 'timeoutMs' | 'backoffMs' | 'maxFailures' | 'maxOutageMs'
>;

/** How the API is called: what was said now, else what was said before. */
export function callOptions(settings: Settings, before: CallOptions): CallOptions {
  const rate = settings.rate === undefined ? before.rate : (settings.rate ?? undefined);
  const maxFailures = settings.maxFailures ?? before.maxFailures;
  const maxOutageMs = maxOutageOf(settings, before.maxOutageMs);
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
    ...(rate !== undefined && { rate }),
    ...(maxFailures !== undefined && { maxFailures }),
    ...(maxOutageMs !== undefined && { maxOutageMs }),
  };
}
