import { Option } from 'commander';
import {
  defaultClearToken,
  defaultStateDir,
  flagOf,
  type SettingName,
  setsOption,
  variableOf,
} from '../index.ts';

/** An option with its help; `collect` puts together what is said of one that may be repeated. */
type OwnOption = readonly [flags: string, help: string, collect?: (text: string) => unknown];

/** Each option that is no setting, by the name that its value has in `Flags`. */
const ownOptions = {
  json: ['--json', 'print exactly one JSON document on standard output'],
  quiet: [
    '-q, --quiet',
    'no progress and no hints, only the result; -qq: nothing unless the exit code is above 0',
    (_text: string, before = 0): number => before + 1,
  ],
  stateDir: [
    '--state-dir <dir>',
    `folder of runs and queue (CQBATCH_STATE_DIR; default: ${defaultStateDir})`,
  ],
  verbose: ['-v, --verbose', 'also say what becomes of the rate, and what is tried again'],
  html: ['--no-html', 'leave report.html out'],
  logLevel: [
    '--log-level <level>',
    'structured log on standard error: error, warn, info or debug (default: none)',
  ],
  allowInsecureHttp: ['--allow-insecure-http', 'allow http:// to a host that is not this machine'],
  worker: ['--no-worker', 'leave the calls to workers elsewhere; needs --queue'],

  yes: ['-y, --yes', 'do not ask; needed where there is no terminal to ask on'],
  runId: [
    '--run-id <id>',
    'name of the run; a second one of that name is refused (default: made of the time)',
  ],
  orResume: ['--or-resume', 'go on with the run of that name, if there is one; do nothing if it is finished'],
  resumeHalted: ['--resume-halted', 'with --or-resume: also where a guard has halted it, at your own risk'],
  skipInvalid: ['--skip-invalid', 'leave invalid rows out instead of sending nothing'],
  skipDone: [
    '--skip-done <run|report>',
    'leave out rows whose identifier a run has done, with its retries, or a report.csv; may be repeated',
    (another: string, before: readonly string[] = []): readonly string[] => [...before, another],
  ],
  canaryRandom: ['--canary-random', 'the rows of the canary are a fair sample of all, instead of the first'],
  once: ['--once', 'run each manifest that waits in a folder, and put it to done/, partial/ or failed/'],
  reason: ['--reason <text>', 'why, for "cqbatch show"'],
  saveResponses: ['--save-responses', "keep each answer of the API in the run's folder, gzipped"],

  operation: [
    '--operation <name>',
    'what to do with the rows, when neither a column nor the manifest says it',
  ],
  clearToken: [
    '--clear-token <text>',
    `CSV cell that sends an empty string; an empty cell is left out (default: ${defaultClearToken})`,
  ],
  trim: ['--trim', 'drop blanks around cells'],

  out: ['--out <file>', 'write it to NAME.cqplan, for "cqbatch run NAME.cqplan", later and elsewhere'],
  approvedBy: ['--approved-by <name>', 'who has looked at it'],
  code: ['--code <code...>', 'only those with these codes (column _code of the report)'],
  unclear: ['--unclear', 'only those that may have been processed unseen (column _unclear)'],
  watch: ['--watch', 'follow it to its end, without a run all that are going; the exit code is then theirs'],
  row: ['--row <n>', 'the story of one row instead: each attempt (column _row of the report)'],
  format: ['--format <format>', 'xlsx also writes report.xlsx, for Excel (default: csv)'],
  withRetries: ['--with-retries', 'of the run and its retries: every row once, its last state'],
  open: ['--open', 'show report.html in the browser'],
  dryRun: ['--dry-run', 'tell what would be removed, and remove nothing'],

  coordinate: ['--coordinate', 'be a daemon: take over submitted runs, and carry out schedules'],
  port: ['--port <port>', 'where it listens; 0: any free one (default: 8788)'],
  host: [
    '--host <address>',
    'address for that; others than this machine may look at it then (default: 127.0.0.1)',
  ],
  control: ['--control', 'print an address whose first visitor may pause, cancel and set rates'],

  cron: ['--cron <pattern>', 'minute, hour, day of month, month, day of week: "0 2 * * 1-5"'],
  manifest: ['--manifest <file>', 'one run of that file, as it is then'],
  inbox: ['--inbox <dir>', 'a run of each manifest that waits in that folder then'],
  overlap: ['--overlap <rule>', 'while its last run is going: skip a time, or queue one (default: skip)'],
  catchUp: ['--catch-up <duration>', 'make up for a missed time until it is so late; or none (default: 1h)'],
  replace: ['--replace', 'in place of the schedule of that name'],
} as const satisfies Readonly<Record<string, OwnOption>>;

type OwnOptions = typeof ownOptions;

export type OptionName = SettingName | keyof OwnOptions;

type ValueOf<Own extends OwnOption> = Own extends readonly [string, string, (text: string) => infer Value]
  ? Value
  : Own[0] extends `${string}...>`
    ? readonly string[]
    : Own[0] extends `${string}>`
      ? string
      : boolean;

/** What a command line says besides settings; `--no-worker` makes `worker` false. */
export type OwnFlags = { readonly [Name in keyof OwnOptions]?: ValueOf<OwnOptions[Name]> };

/** What options mean to a command, where that is not what they usually mean. */
export interface OwnMeanings {
  readonly help?: Readonly<Partial<Record<OptionName, string>>>;
  /** What applies of the options of a run when they are not given, for a command that takes them from another run. */
  readonly fromRun?: string;
}

/** An option of a command. */
export function optionOf(name: OptionName, { help: own = {}, fromRun }: OwnMeanings = {}): Option {
  const help = own[name];
  const isOfRun = setsOption(name) || name === 'baseUrl';
  const [flags, usual, collect]: OwnOption = isOwn(name)
    ? ownOptions[name]
    : flagOf(name, { ...(help !== undefined && { help }), byDefault: isOfRun ? fromRun : undefined });
  const option = new Option(flags, isOwn(name) ? (help ?? usual) : usual);
  return collect === undefined ? option : option.argParser(collect);
}

/** The option of a field that has one of its own. @param value how it is written: `<id>` */
export function fieldOption(field: string, value: string): Option {
  const help = `the same as --default ${field}=${value} (${variableOf(field)})`;
  return new Option(`--${field.replaceAll('_', '-')} ${value}`, help);
}

function isOwn(name: OptionName): name is keyof OwnOptions {
  return Object.hasOwn(ownOptions, name);
}
