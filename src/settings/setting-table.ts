import { conflictRules } from '../manifest/check/call-index.ts';
import {
  orNone,
  parseChoice,
  parseColumnMap,
  parseConcurrency,
  parseConditions,
  parseDefaults,
  parseDelimiter,
  parseDuration,
  parseEncoding,
  parseFailureLimit,
  parseInteger,
  parseLongDuration,
  parseMetricsFile,
  parseQueuePrefix,
  parseRate,
  parseSize,
  parseSwitch,
  parseText,
  parseTimeOfDay,
  parseTimeZone,
} from './parsers.ts';

/** A setting that can be given in more than one place. */
export interface Setting {
  /** Reads what users write; throws a RangeError that says how to. */
  readonly parse: (text: string) => unknown;
  /** What stands for its value in the help; absent: the flag has none, and means yes. */
  readonly value?: string;
  readonly help: string;
  /** What applies when nobody says otherwise, as it would be written. */
  readonly default?: string;
  /** That in words, where it can't be written. */
  readonly otherwise?: string;
  /** A variable that says the same in another way. */
  readonly orVariable?: string;
  /** The field of a run's options that says how its rows are read: it stays as it was planned. */
  readonly rowOption?: string;
  /** The field of a run's options that says how its rows are called: `resume` may change it. */
  readonly callOption?: string;
  /** Pairs `name=value`: a flag that may be repeated, an object in the configuration file, lines in the variable. */
  readonly isMap?: true;
}

/** Kinds of values: how they are read, and how help writes them. */

const url = { parse: parseText, value: '<url>' } as const;
const file = { parse: parseText, value: '<file>' } as const;
const duration = { parse: parseDuration, value: '<duration>' } as const;
const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  ({ parse: parseInteger(least, most), value: '<n>' }) as const;

/**
 * Every setting. `timeout` is the flag `--timeout`, the variable `CQBATCH_TIMEOUT` and `timeout` in the configuration file;
 * that is also their precedence. The token is not among them: it never comes from a flag (see `tokenSource`).
 */
export const settings = {
  baseUrl: { ...url, help: 'where the API is' },
  queue: {
    ...url,
    help: 'shared datastore: redis://host:6379/0',
    otherwise: 'embedded',
  },
  queuePrefix: {
    parse: parseQueuePrefix,
    value: '<name>',
    help: 'what its keys begin with',
    default: 'cqbatch',
  },
  queuePasswordFile: { ...file, help: 'file with its password', orVariable: 'CQBATCH_QUEUE_PASSWORD' },
  where: {
    rowOption: 'where',
    parse: parseConditions,
    value: '<condition>',
    help: "only rows whose own columns say so: 'deleted_by=u-17', 'deleted_at>=2026-11-16' (= != < <= > >=, ~ for a part of a text); may be repeated: all must hold",
    isMap: true,
  },
  operations: {
    parse: parseText,
    value: '<module>',
    help: 'operations of your own, such as ./operations.js; code that is trusted as cqbatch is',
    otherwise: 'those of the service',
  },
  default: {
    rowOption: 'default',
    parse: parseDefaults,
    value: '<field=value>',
    help: 'value of a field in rows that leave it out; may be repeated',
    isMap: true,
  },
  map: {
    rowOption: 'map',
    parse: parseColumnMap,
    value: '<column=field>',
    help: 'what a column stands for, when its title does not say it; may be repeated',
    isMap: true,
  },
  encoding: {
    rowOption: 'encoding',
    parse: parseEncoding,
    value: '<name>',
    help: 'of the text, such as windows-1252',
    default: 'utf-8',
  },
  skipLines: {
    rowOption: 'skipLines',
    ...wholeNumber(0, 1_000),
    help: 'lines above the one with the column names',
    default: '0',
  },
  sheet: {
    rowOption: 'sheet',
    parse: parseText,
    value: '<name|n>',
    help: 'of an Excel workbook',
    otherwise: 'the first with rows',
  },
  rowsAt: {
    rowOption: 'rowsAt',
    parse: parseText,
    value: '<path>',
    help: 'where a JSON object has its rows',
    default: 'rows',
  },
  tokenFile: { ...file, help: 'file with the access token, read again on 401', orVariable: 'CQBATCH_TOKEN' },
  onConflict: {
    rowOption: 'onConflict',
    parse: parseChoice(conflictRules),
    value: '<rule>',
    help: 'rows that change one thing in different ways: refuse them, call only the last, or all in-order',
    default: 'refuse',
  },
  rate: {
    callOption: 'rate',
    parse: parseRate,
    value: '<rate>',
    help: 'auto finds what the API permits; auto..50/s no more than that; 50/s, 600/m, none',
    default: 'auto',
  },
  concurrency: {
    callOption: 'concurrency',
    parse: parseConcurrency,
    value: '<n>',
    help: 'calls in flight at once, or auto',
    default: 'auto',
  },
  attempts: {
    callOption: 'attempts',
    ...wholeNumber(1, 100),
    help: 'attempts per row for failures that may pass',
    default: '5',
  },
  timeout: { callOption: 'timeoutMs', ...duration, help: 'for one request, all in all', default: '60s' },
  backoff: {
    callOption: 'backoffMs',
    ...duration,
    help: 'longest pause after the first failed attempt, doubled with each',
    default: '1s',
  },
  shutdownTimeout: { ...duration, help: 'for calls in flight after SIGTERM', default: '25s' },
  healthPort: {
    parse: parseInteger(0, 65_535),
    value: '<port>',
    help: 'serve /healthz, /readyz and /metrics there',
    otherwise: 'no',
  },
  healthHost: { parse: parseText, value: '<address>', help: 'address for that', default: '127.0.0.1' },
  delimiter: {
    callOption: 'delimiter',
    parse: parseDelimiter,
    value: '<name>',
    help: 'of report.csv and its like: comma, semicolon, tab or pipe',
    otherwise: 'as in the manifest',
  },
  maxManifestSize: {
    parse: parseSize,
    value: '<size>',
    help: 'largest manifest, also after unzipping: 500MB, 2GiB, none',
    default: '4GB',
  },
  maxFailures: {
    callOption: 'maxFailures',
    parse: parseFailureLimit,
    value: '<n|n%>',
    help: 'halt when more rows than that have failed, such as 100, 5% or none',
    default: '5%',
  },
  maxFailuresAfter: {
    callOption: 'maxFailuresAfter',
    ...wholeNumber(1),
    help: 'a share of failures counts from so many finished rows on',
    default: '100',
  },
  maxConsecutiveFailures: {
    callOption: 'maxConsecutiveFailures',
    parse: orNone(parseInteger(1, Number.MAX_SAFE_INTEGER)),
    value: '<n>',
    help: 'halt when more rows than that have failed one after the other; or none',
    otherwise: 'no limit',
  },
  confirmAbove: {
    ...wholeNumber(0),
    help: 'above so many requests their number is to be typed, not just y',
    default: '1000',
  },
  allowPartial: {
    parse: parseSwitch,
    help: 'let rows leave fields out, which the API might reset; asked once for each API',
  },
  canary: {
    ...wholeNumber(1, 1_000_000),
    help: 'call so many rows first, show what became of them, and ask',
    otherwise: 'no canary',
  },
  canaryMaxFailures: {
    ...wholeNumber(0, 1_000_000),
    help: 'where nobody can be asked: go on after the canary if no more of its rows have failed',
    default: '0',
  },
  maxRows: {
    ...wholeNumber(1),
    help: 'stop when so many rows have been called; resume goes on',
    otherwise: 'no limit',
  },
  maxDuration: {
    parse: parseLongDuration,
    value: '<duration>',
    help: 'stop after so long; resume goes on',
    otherwise: 'no limit',
  },
  stopAt: {
    parse: parseTimeOfDay,
    value: '<hh:mm>',
    help: 'stop when it is that late; resume goes on',
    otherwise: 'no limit',
  },
  tz: {
    parse: parseTimeZone,
    value: '<zone>',
    help: 'time zone of --stop-at, such as Europe/London',
    otherwise: 'that of the system',
  },
  notifyUrl: { ...url, help: 'post there how it ended, as Slack and Teams take it' },
  notifyOn: {
    parse: parseChoice(['failure', 'always']),
    value: '<when>',
    help: 'failure (any exit code but 0) or always',
    default: 'failure',
  },
  notifySecretFile: {
    ...file,
    help: 'file with what that is signed with',
    orVariable: 'CQBATCH_NOTIFY_SECRET',
  },
  pingUrl: { ...url, help: 'call <url>/start and <url>/<exit code>, as healthchecks.io takes it' },
  metricsFile: {
    parse: parseMetricsFile,
    value: '<file.prom>',
    help: 'keep figures there, for the textfile collector of node_exporter',
  },
  settle: {
    ...duration,
    help: 'take a file that nobody has renamed only when it has not changed for so long',
    default: '5s',
  },
  keepLast: { ...wholeNumber(0, 1_000_000), help: 'keep so many of the newest runs' },
  keepDays: { ...wholeNumber(0, 100_000), help: 'keep the runs of so many days' },
  wait: {
    ...duration,
    help: 'wait for so long while another process is at work',
    otherwise: 'exit with code 5',
  },
  maxOutage: {
    callOption: 'maxOutageMs',
    parse: orNone(parseDuration),
    value: '<duration>',
    help: 'how long to wait for an API that is away; or none, for ever',
    default: '15m',
  },
} as const satisfies Readonly<Record<string, Setting>>;
