import { usageError } from '../../errors.ts';
import {
  parseConcurrency,
  parseDuration,
  parseDurationOrNone,
  parseInteger,
  parseQueuePrefix,
  parseRate,
  parseSize,
  parseText,
} from './parsers.ts';

/**
 * Every setting that can be given in more than one place. Precedence: flag, environment, configuration file, default.
 * The token is not among them: it never comes from a flag (see `token.ts`).
 */
const definitions = {
  baseUrl: { flag: '--base-url', env: 'CQBATCH_BASE_URL', key: 'base_url', parse: parseText },
  queue: { flag: '--queue', env: 'CQBATCH_QUEUE', key: 'queue', parse: parseText },
  queuePrefix: {
    flag: '--queue-prefix',
    env: 'CQBATCH_QUEUE_PREFIX',
    key: 'queue_prefix',
    parse: parseQueuePrefix,
  },
  queuePasswordFile: {
    flag: '--queue-password-file',
    env: 'CQBATCH_QUEUE_PASSWORD_FILE',
    key: 'queue_password_file',
    parse: parseText,
  },
  userId: { flag: '--user-id', env: 'CQBATCH_USER_ID', key: 'user_id', parse: parseText },
  tokenFile: { flag: '--token-file', env: 'CQBATCH_TOKEN_FILE', key: 'token_file', parse: parseText },
  rate: { flag: '--rate', env: 'CQBATCH_RATE', key: 'rate', parse: parseRate },
  concurrency: {
    flag: '--concurrency',
    env: 'CQBATCH_CONCURRENCY',
    key: 'concurrency',
    parse: parseConcurrency,
  },
  attempts: { flag: '--attempts', env: 'CQBATCH_ATTEMPTS', key: 'attempts', parse: parseInteger(1, 100) },
  timeout: { flag: '--timeout', env: 'CQBATCH_TIMEOUT', key: 'timeout', parse: parseDuration },
  backoff: { flag: '--backoff', env: 'CQBATCH_BACKOFF', key: 'backoff', parse: parseDuration },
  shutdownTimeout: {
    flag: '--shutdown-timeout',
    env: 'CQBATCH_SHUTDOWN_TIMEOUT',
    key: 'shutdown_timeout',
    parse: parseDuration,
  },
  healthPort: {
    flag: '--health-port',
    env: 'CQBATCH_HEALTH_PORT',
    key: 'health_port',
    parse: parseInteger(0, 65_535),
  },
  healthHost: { flag: '--health-host', env: 'CQBATCH_HEALTH_HOST', key: 'health_host', parse: parseText },
  maxManifestSize: {
    flag: '--max-manifest-size',
    env: 'CQBATCH_MAX_MANIFEST_SIZE',
    key: 'max_manifest_size',
    parse: parseSize,
  },
  maxFailures: {
    flag: '--max-failures',
    env: 'CQBATCH_MAX_FAILURES',
    key: 'max_failures',
    parse: parseInteger(0, Number.MAX_SAFE_INTEGER),
  },
  maxOutage: {
    flag: '--max-outage',
    env: 'CQBATCH_MAX_OUTAGE',
    key: 'max_outage',
    parse: parseDurationOrNone,
  },
} as const;

type Definitions = typeof definitions;

export type SettingName = keyof Definitions;

/** The settings that were given somewhere, validated. */
export type Settings = { readonly [Name in SettingName]?: ReturnType<Definitions[Name]['parse']> };

/** What applies when nobody says otherwise. */
export const defaults = {
  stateDir: '.cqbatch',
  queuePrefix: 'cqbatch',
  rate: { text: 'auto', auto: true },
  concurrency: 'auto',
  attempts: 5,
  /** Milliseconds. */
  timeout: 60_000,
  /** Milliseconds. */
  backoff: 1_000,
  /** Milliseconds. */
  maxOutage: 900_000,
  /** Milliseconds that a worker's calls in flight have to finish when it is told to stop. */
  shutdownTimeout: 25_000,
  /** Bytes. */
  maxManifestSize: 4_000_000_000,
  clearToken: '<clear>',
} as const;

/** The texts of one source by setting. */
export type RawSettings = { readonly [Name in SettingName]?: string | undefined };

export interface SettingSources {
  readonly flags: RawSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The configuration file, parsed, and its path for messages. */
  readonly file?: { readonly path: string; readonly values: Readonly<Record<string, unknown>> };
}

/** @throws a usage error that names the flag, variable or key and how to write the value. */
export function resolveSettings({ flags, environment, file }: SettingSources): Settings {
  if (file !== undefined) rejectUnknownKeys(file.path, file.values);
  const settings: Record<string, unknown> = {};
  for (const [name, { flag, env, key, parse }] of Object.entries(definitions)) {
    const candidates: readonly (readonly [string, unknown])[] = [
      [flag, flags[name as SettingName]],
      // A variable that is set but empty counts as not set, as is usual in cron tables and compose files.
      [env, environment[env] || undefined],
      [`${file?.path}: ${key}`, file?.values[key]],
    ];
    const given = candidates.find(([, value]) => value !== undefined);
    if (given === undefined) continue;
    const [source, value] = given;
    try {
      settings[name] = parse(String(value));
    } catch (error) {
      throw usageError('INVALID_SETTING', `${source} "${String(value)}": ${(error as Error).message}.`);
    }
  }
  return settings;
}

function rejectUnknownKeys(path: string, values: Readonly<Record<string, unknown>>): void {
  const known = Object.values(definitions).map(({ key }) => key);
  for (const key of Object.keys(values)) {
    if (!(known as readonly string[]).includes(key)) {
      const hint = /token/i.test(key)
        ? ' A token never stands in this file: use CQBATCH_TOKEN or token_file.'
        : '';
      throw usageError(
        'INVALID_SETTING',
        `${path}: unknown key "${key}"; known are ${known.join(', ')}.${hint}`,
      );
    }
  }
}
