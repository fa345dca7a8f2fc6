import { Option } from 'commander';
import {
  type CommandOption,
  collectFlag,
  defaultStateDir,
  type FlagName,
  flagOf,
  setsOption,
  variableOf,
} from '../settings/settings.ts';

export const scheduleOptions = {
  cron: {
    flags: '--cron <pattern>',
    help: 'minute, hour, day of month, month, day of week: "0 2 * * 1-5"',
    isCommon: true,
  },
  manifest: {
    flags: '--manifest <file>',
    help: 'run this file, with its content at that time',
    isCommon: true,
  },
  inbox: { flags: '--inbox <dir>', help: 'run each manifest that waits in this folder', isCommon: true },
  overlap: {
    flags: '--overlap <rule>',
    help: 'if the last run is still in progress: skip, or queue one run (default: skip)',
  },
  catchUp: {
    flags: '--catch-up <duration>',
    help: 'how late a missed run may still start; or none (default: 1h)',
  },
  replace: { flags: '--replace', help: 'replace the schedule of this name' },
} as const satisfies Readonly<Record<string, CommandOption>>;

const ownOptions = {
  json: { flags: '--json', help: 'print exactly one JSON document on standard output', isCommon: true },
  quiet: {
    flags: '-q, --quiet',
    help: 'print only the result; -qq: nothing unless the exit code is above 0',
    isCommon: true,
    collect: (_text: string, count = 0): number => count + 1,
  },
  stateDir: {
    flags: '--state-dir <dir>',
    help: `folder of runs, queue and settings (CQBATCH_STATE_DIR; default: ${defaultStateDir})`,
  },
  verbose: { flags: '-v, --verbose', help: 'also show decisions about the rate, and rows that are retried' },
  html: { flags: '--no-html', help: 'do not write report.html' },
  planPage: {
    flags: '--html <file>',
    help: 'write the plan as a page: NAME.html; replaces only such a page',
    isCommon: true,
  },
  logLevel: {
    flags: '--log-level <level>',
    help: 'write a structured log to standard error: error, warn, info or debug (default: none)',
  },
  allowInsecureHttp: { flags: '--allow-insecure-http', help: 'allow http:// to another machine' },
  worker: { flags: '--no-worker', help: 'leave the calls to workers on other machines; needs --queue' },

  yes: { flags: '-y, --yes', help: 'do not ask; required without a terminal', isCommon: true },
  submit: {
    flags: '--submit',
    help: 'leave the run to a daemon, instead of continuing in this process',
    isCommon: true,
  },
  runId: {
    flags: '--run-id <id>',
    help: 'name of the run; refused if another run has it (default: made from the time)',
    isCommon: true,
  },
  orResume: {
    flags: '--or-resume',
    help: 'continue the run of --run-id if there is one; do nothing if the run is finished',
    isCommon: true,
  },
  resumeHalted: {
    flags: '--resume-halted',
    help: 'with --or-resume: also continue a run that a guard has halted, at your own risk',
  },
  skipInvalid: {
    flags: '--skip-invalid',
    help: 'leave invalid rows out; otherwise, an invalid row stops everything',
    isCommon: true,
  },
  skipDone: {
    flags: '--skip-done <run|report>',
    help: 'leave out rows that a run and its retries, or a report.csv, have done; may be repeated',
    collect: collectFlag,
  },
  once: { flags: '--once', help: 'run the manifests that wait now, then exit', isCommon: true },
  reason: { flags: '--reason <text>', help: 'reason for this action, for "cqbatch show"' },
  saveResponses: { flags: '--save-responses', help: "keep every answer of the API in the run's folder" },

  operation: {
    flags: '--operation <name>',
    help: 'operation for the rows, if their columns imply none',
  },
  trim: { flags: '--trim', help: 'remove blanks around cells' },

  out: {
    flags: '--out <file>',
    help: 'write the plan to NAME.cqplan, to be reviewed and run later',
    isCommon: true,
  },
  sha256: {
    flags: '--sha256 <digest>',
    help: 'run only the plan file with this SHA-256, as "cqbatch plan" and sha256sum print',
  },
  against: {
    flags: '--against <digest...>',
    help: 'SHA-256 that a file of the run must have, from summary.json or a notification',
    isCommon: true,
  },
  code: {
    flags: '--code <code...>',
    help: 'only rows with these codes (column _code of the report)',
    isCommon: true,
  },
  transient: {
    flags: '--transient',
    help: 'only rows that may succeed without a change, by their codes',
    isCommon: true,
  },
  unclear: {
    flags: '--unclear',
    help: 'only rows that the API may have processed without an answer (column _unclear)',
    isCommon: true,
  },
  watch: {
    flags: '--watch',
    help: 'follow the run to its end, or all runs in progress; exits with their code',
  },
  row: { flags: '--row <n>', help: 'show each attempt of one row (column _row of the report)' },
  format: { flags: '--format <format>', help: 'xlsx also writes report.xlsx for Excel (default: csv)' },
  withRetries: {
    flags: '--with-retries',
    help: 'join a run and its retries: each row once, with its last result',
  },
  open: { flags: '--open', help: 'show report.html in the browser', isCommon: true },
  overwrite: {
    flags: '--overwrite',
    help: 'with --compare: also put back entries that have changed since the run',
  },
  plan: { flags: '--plan', help: 'show what would be sent, and send nothing', isCommon: true },
  dryRun: { flags: '--dry-run', help: 'show what would be removed, and remove nothing' },

  coordinate: {
    flags: '--coordinate',
    help: 'run as a daemon: complete submitted runs, and start scheduled runs',
    isCommon: true,
  },
  port: { flags: '--port <port>', help: 'port of the page; 0: any free port (default: 8788)' },
  host: {
    flags: '--host <address>',
    help: 'address of the page; any other address than 127.0.0.1 lets other machines read the page (default: 127.0.0.1)',
  },
  publicUrl: {
    flags: '--public-url <url>',
    help: 'address at which a proxy serves the page, such as https://build.example/cqbatch/',
  },
  control: {
    flags: '--control',
    help: 'print a one-time address that can pause and cancel runs and set their rate',
  },
  start: {
    flags: '--start',
    help: 'let that address also plan files, and start, resume, retry and undo runs, which this process carries out unless a daemon does',
  },

  ...scheduleOptions,
} as const satisfies Readonly<Record<string, CommandOption>>;

type OwnOptions = typeof ownOptions;

export type OptionName = FlagName | keyof OwnOptions;

type ValueOf<Own extends CommandOption> = Own extends { collect: (text: string) => infer Value }
  ? Value
  : Own['flags'] extends `${string}...>`
    ? readonly string[]
    : Own['flags'] extends `${string}>`
      ? string
      : boolean;

/** The values of options that are no settings. `--no-worker` makes `worker` false. */
export type OwnFlags = { readonly [Name in keyof OwnOptions]?: ValueOf<OwnOptions[Name]> | undefined };

export interface OwnMeanings {
  readonly help?: Readonly<Partial<Record<OptionName, string>>>;
  /** What help names as the default of run options that are taken from another run. */
  readonly fromRun?: string;
}

/** The option as Commander wants it. @param isBrief leaves environment variables out of its help */
export function optionOf(
  name: OptionName,
  { help: ownHelp = {}, fromRun }: OwnMeanings = {},
  isBrief = false,
): Option {
  const isOfRun = setsOption(name) || name === 'baseUrl';
  const byDefault = isOfRun ? fromRun : undefined;
  const {
    flags,
    help,
    isCommon: common,
    collect,
  }: CommandOption = isOwn(name)
    ? { ...ownOptions[name], help: ownHelp[name] ?? ownOptions[name].help }
    : flagOf(name, { help: ownHelp[name], byDefault, isBrief });
  const option = new Option(flags, help).hideHelp(isBrief && !common);
  // Name the option explicitly: Commander would give `--html <file>` and `--no-html` one name, and they are two options.
  option.attributeName = () => name;
  return collect === undefined ? option : option.argParser(collect);
}

export function fieldOption(field: string, value: string, isBrief: boolean): Option {
  const variable = isBrief ? '' : ` (${variableOf(field)})`;
  const help = `${field} of rows that have none; short for --default ${field}=${value}${variable}`;
  return new Option(`--${field.replaceAll('_', '-')} ${value}`, help);
}

function isOwn(name: string): name is keyof OwnOptions {
  return Object.hasOwn(ownOptions, name);
}
