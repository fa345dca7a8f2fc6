import { commandWords } from '../base/text/command-words.ts';
import { delimiterNames } from '../base/text/delimiter.ts';
import { conflictRules, priorities } from '../domain/terms.ts';
import { noticeSettings } from './notice-settings.ts';
import * as parsers from './parsers.ts';
import { readingSettings } from './reading-settings.ts';
import type { Setting } from './setting.ts';

const text = { parse: parsers.parseText } as const;
const url = { ...text, value: '<url>' } as const;
const file = { ...text, value: '<file>' } as const;
const duration = { parse: parsers.parseDuration, value: '<duration>' } as const;
const oneOf = <const Word extends string>(words: readonly Word[]) =>
  ({ parse: parsers.parseChoice(words), words }) as const;
const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  ({ parse: parsers.parseInteger(least, most), value: '<n>' }) as const;

/**
 * `timeout` is the flag `--timeout`, the variable `CQBATCH_TIMEOUT` and the key `timeout` of the configuration file, in order of
 * precedence. The token never comes from a flag (see `tokenSource`).
 */
export const settings = {
  baseUrl: { ...url, isCommon: true, help: 'address of the API' },
  queue: {
    appliesToBatch: true,
    ...url,
    isCommon: true,
    help: 'Redis that several machines share, such as redis://host:6379/0',
    behaviorWithout: 'embedded queue',
  },
  queuePrefix: {
    needs: 'queue',
    appliesToBatch: true,
    noFlag: true,
    parse: parsers.parseQueuePrefix,
    value: '<name>',
    help: 'prefix of all keys in Redis',
    default: 'cqbatch',
  },
  queueMayEvict: {
    needs: 'queue',
    appliesToBatch: true,
    noFlag: true,
    parse: parsers.parseSwitch,
    help: 'use a Redis that deletes keys when its memory is full: rows may be called again, and marked',
  },
  queuePasswordFile: {
    needs: 'queue',
    ...file,
    help: 'file with the password of Redis; if Sentinels have another password, set CQBATCH_SENTINEL_PASSWORD',
    orVariable: ['CQBATCH_QUEUE_PASSWORD', 'the password'],
  },
  where: {
    isCommon: true,
    rowOption: 'where',
    parse: parsers.parseConditions,
    value: '<condition>',
    help: "only rows with this value, such as 'deleted_by=u-17' or 'deleted_at>=2026-11-16' (= != < <= > >=; ~ for a part of a text); may be repeated: rows must match all",
    isMap: true,
    mustNotBeEmpty: true,
  },
  operations: {
    ...text,
    value: '<module>',
    help: 'module with operations of your own, such as ./operations.js; runs with all rights of cqbatch',
    behaviorWithout: 'those of the service',
  },
  default: {
    rowOption: 'default',
    parse: parsers.parseDefaults,
    value: '<field=value>',
    help: 'value of a field in rows that leave the field out; may be repeated',
    isMap: true,
  },
  map: {
    isCommon: true,
    rowOption: 'map',
    parse: parsers.parseColumnMap,
    value: '<column=field>',
    help: 'field for a column with another header; may be repeated',
    isMap: true,
  },
  ...readingSettings,
  tokenFile: {
    ...file,
    isCommon: true,
    help: 'file with the access token; read again if the API refuses the token',
    orVariable: ['CQBATCH_TOKEN', 'the token'],
  },
  tokenCommand: {
    isCommon: true,
    excludedBy: 'tokenFile',
    parse: commandWords,
    value: '<command>',
    help: "command that prints the access token, such as 'gcloud auth print-access-token'; run again when the token ends or is refused",
    isCommand: true,
  },
  rateGroup: {
    appliesToBatch: true,
    parse: parsers.parseRateGroup,
    value: '<name>',
    help: 'name of the callers, such as a tenant, that share one limit of the API',
    behaviorWithout: 'all callers share one',
  },
  onConflict: {
    rowOption: 'onConflict',
    ...oneOf(conflictRules),
    value: '<rule>',
    help: 'rows that change one entry in different ways: refuse them, call only the last, or call all in-order',
    default: 'refuse',
  },
  rate: {
    isCommon: true,
    callOption: 'rate',
    parse: parsers.parseRate,
    value: '<rate>',
    help: 'auto: find the rate that the API permits; auto..50/s: find up to 50/s; 50/s, 600/m or 100/15s: this rate; none: no limit',
    default: 'auto',
  },
  priority: {
    callOption: 'priority',
    ...oneOf(priorities),
    value: '<priority>',
    help: 'which runs are called first where several share workers or a daemon: high, normal, or low, which waits for the others',
    default: 'normal',
  },
  concurrency: {
    callOption: 'concurrency',
    parse: parsers.parseConcurrency,
    value: '<n>',
    help: 'number of calls in flight, or auto',
    default: 'auto',
  },
  attempts: {
    callOption: 'attempts',
    ...wholeNumber(1, 100),
    help: 'number of attempts for a row with transient failures',
    default: '5',
  },
  timeout: { callOption: 'timeoutMs', ...duration, help: 'longest time for one request', default: '60s' },
  backoff: {
    noFlag: true,
    callOption: 'backoffMs',
    ...duration,
    help: 'longest pause after the first failed attempt; each further failure doubles the pause',
    default: '1s',
  },
  shutdownTimeout: { ...duration, help: 'time for calls in flight after SIGTERM', default: '25s' },
  healthPort: {
    parse: parsers.parseInteger(0, 65_535),
    value: '<port>',
    help: 'port that serves /healthz, /readyz and /metrics',
    behaviorWithout: 'none',
  },
  healthHost: {
    needs: 'healthPort',
    ...text,
    value: '<address>',
    help: 'address of that port',
    default: '127.0.0.1',
  },
  healthName: {
    needs: 'healthPort',
    parse: parsers.parseHostNames,
    value: '<name>',
    help: 'host name by which probes and Prometheus ask that port; IP addresses, localhost and the name of this machine need none; may be repeated',
    isMap: true,
    behaviorWithout: 'none',
  },
  delimiter: {
    callOption: 'delimiter',
    parse: parsers.parseDelimiter,
    words: Object.keys(delimiterNames),
    value: '<name>',
    help: 'delimiter of report.csv and failed.csv: comma, semicolon, tab or pipe',
    behaviorWithout: 'as in the manifest',
  },
  maxManifestSize: {
    appliesToBatch: true,
    noFlag: true,
    parse: parsers.parseSize,
    value: '<size>',
    help: 'largest manifest, also after unzipping: 500MB, 2GiB or none',
    default: '4GB',
  },
  maxFailures: {
    isCommon: true,
    isGuard: true,
    callOption: 'maxFailures',
    parse: parsers.parseFailureLimit,
    value: '<n|n%>',
    help: 'halt when more rows fail than this number, or clearly more than this share: 100, 5% or none',
    default: '5%',
  },
  confirmAbove: {
    noFlag: true,
    ...wholeNumber(0),
    help: 'above this number of requests you confirm by typing the number, not just y',
    default: '1000',
  },
  allowPartial: {
    isCommon: true,
    appliesToBatch: true,
    parse: parsers.parseSwitch,
    help: 'allow rows that leave fields out, which the API may reset',
  },
  allowEmpty: {
    appliesToBatch: true,
    parse: parsers.parseSwitch,
    help: 'allow a run without a call, as when no row is chosen',
  },
  canary: {
    appliesToBatch: true,
    isCommon: true,
    parse: parsers.parseCanary,
    value: '<n>',
    help: 'call this number of rows first, show their results, and ask; 10,random: a random sample; 10,pause: pause instead of asking',
    behaviorWithout: 'no canary',
  },
  canaryMaxFailures: {
    appliesToBatch: true,
    noFlag: true,
    ...wholeNumber(0, 1_000_000),
    help: 'without a terminal: continue after the canary if at most this number of its rows have failed',
    default: '0',
  },
  requireReason: {
    noFlag: true,
    parse: parsers.parseSwitch,
    value: '<yes|no>',
    help: 'whether commands that start or change a run need --reason',
    default: 'no',
  },
  maxRows: {
    appliesToBatch: true,
    ...wholeNumber(1),
    help: 'stop after this number of rows; resume continues',
    behaviorWithout: 'no limit',
  },
  maxDuration: {
    appliesToBatch: true,
    parse: parsers.parseLongDuration,
    value: '<duration>',
    help: 'stop after this time; resume continues',
    behaviorWithout: 'no limit',
  },
  stopAt: {
    appliesToBatch: true,
    isCommon: true,
    parse: parsers.parseTimeOfDay,
    value: '<time>',
    help: "stop at this time of day, such as 06:00 or '06:00 Europe/London'; resume continues",
    behaviorWithout: 'no limit',
  },
  tz: {
    appliesToBatch: true,
    parse: parsers.parseTimeZone,
    value: '<zone>',
    help: 'time zone for --cron, and for a --stop-at without a zone, such as Europe/London',
    behaviorWithout: 'that of the system',
  },
  ...noticeSettings,
  settle: {
    ...duration,
    help: 'take a new file that has not changed for this time; a file renamed from NAME.part while watched is taken at once',
    default: '5s',
  },
  keepLast: { ...wholeNumber(0, 1_000_000), help: 'keep this number of the newest runs' },
  keepDays: { ...wholeNumber(0, 100_000), help: 'keep the runs of this number of days' },
  wait: {
    ...duration,
    help: 'wait up to this time for another process to finish',
    behaviorWithout: 'exit with code 5',
  },
  maxOutage: {
    callOption: 'maxOutageMs',
    parse: parsers.orNone(parsers.parseDuration),
    value: '<duration>',
    help: 'wait up to this time while the API is down or refuses every call, or Redis refuses; none: forever',
    default: '15m',
  },
} as const satisfies Readonly<Record<string, Setting>>;
