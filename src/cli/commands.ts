import { defaultClearToken, defaultStateDir, type Flags } from './config/load.ts';
import { flagOf, type SettingName } from './config/settings.ts';
import type { ExitCode } from './exit-codes.ts';

/** An option as commander takes it. */
type Option = readonly [flags: string, description: string, byDefault?: string];

/** A command, but for what every command has. */
export interface CommandSpec {
  readonly name: string;
  readonly description: string;
  readonly argument?: readonly [name: string, description: string];
  /** In the order in which help lists them. */
  readonly options: readonly Option[];
  /** Loads what it does: `cqbatch --help` has to be quick. */
  readonly load: () => Promise<Action>;
}

/** Does what a command is for, and gives the exit code. Without an argument, the flags come first. */
type Action = ((flags: Flags) => Promise<ExitCode>) | ((argument: string, flags: Flags) => Promise<ExitCode>);

const manifest = [
  '<manifest>',
  'CSV, TSV, JSON or JSON Lines file, also gzipped; - for standard input',
] as const;
const newestRun = ['[run]', 'id of the run; the newest one by default'] as const;
const skipInvalid: Option = ['--skip-invalid', 'leave invalid rows out instead of sending nothing'];
const insecureHttp: Option = ['--allow-insecure-http', 'allow http:// to a host that is not this machine'];

/** Of every command. */
export const commonOptions: readonly Option[] = [
  ['--state-dir <dir>', `folder of runs and queue (CQBATCH_STATE_DIR; default: ${defaultStateDir})`],
  ['--json', 'print exactly one JSON document on standard output'],
  ['-q, --quiet', 'no progress and no hints, only the result'],
];

const queueOptions = settings('queue', 'queuePrefix', 'queuePasswordFile');

/** Of the commands that start a run. */
const startOptions: readonly Option[] = [
  ['-y, --yes', 'do not ask; needed where there is no terminal to ask on'],
  ['--run-id <id>', 'name of the run; a second one of that name is refused (default: made of the time)'],
];

const manifestOptions: readonly Option[] = [
  ['--operation <name>', 'what to do with the rows, when neither a column nor the manifest says it'],
  ...settings('userId'),
  [
    '--clear-token <text>',
    'CSV cell that sends an empty string; an empty cell is left out',
    defaultClearToken,
  ],
  ...settings('maxManifestSize', 'baseUrl'),
  insecureHttp,
  ...settings('rate'),
];

/** How the API is called. */
const workerOptions = settings('tokenFile', 'concurrency', 'timeout', 'maxOutage');

/** How the rows of a run are called. */
const policyOptions = settings('attempts', 'backoff', 'maxFailures');

/** Of the commands that take a run to its end. */
const callOptions: readonly Option[] = [
  ...workerOptions,
  ...policyOptions,
  ...queueOptions,
  ['--no-worker', 'leave the calls to workers elsewhere; needs --queue'],
  ['--log-level <level>', 'structured log on standard error: error, warn, info or debug (default: none)'],
];

function settings(...names: readonly SettingName[]): readonly Option[] {
  return names.map((name) => flagOf(name));
}

/** The commands, but for the sandbox. */
export const commands: readonly CommandSpec[] = [
  {
    name: 'plan',
    description: 'validate every row, count, estimate and preview requests; sends nothing',
    argument: manifest,
    options: manifestOptions,
    load: async () => (await import('./actions/plan.ts')).plan,
  },
  {
    name: 'run',
    description: 'plan, ask, call the API for every row, and write the report',
    argument: manifest,
    options: [skipInvalid, ...startOptions, ...manifestOptions, ...callOptions],
    load: async () => (await import('./actions/run.ts')).run,
  },
  {
    name: 'resume',
    description: 'go on where a run stopped; rows that have a result are not called again',
    argument: newestRun,
    options: [
      flagOf('baseUrl', 'another API, for a run of which none has answered (CQBATCH_BASE_URL)'),
      insecureHttp,
      flagOf('rate', 'most calls from now on: 50/s, 600/m, or "none" (default: as before)'),
      ...callOptions,
    ],
    load: async () => (await import('./actions/resume.ts')).resume,
  },
  {
    name: 'retry',
    description: 'start a new run of the rows that failed in a run',
    argument: newestRun,
    options: [
      flagOf('rate', 'most calls: 50/s, 600/m, or "none" (default: as in that run)'),
      ...startOptions,
      ...callOptions,
    ],
    load: async () => (await import('./actions/retry.ts')).retry,
  },
  {
    name: 'status',
    description: 'where a run stands, also while it is going',
    argument: newestRun,
    options: [['--watch', 'follow it to its end; the exit code is then that of the run'], ...queueOptions],
    load: async () => (await import('./actions/status.ts')).status,
  },
  {
    name: 'list',
    description: 'the runs of this state folder and of the shared datastore, newest first',
    options: queueOptions,
    load: async () => (await import('./actions/list.ts')).list,
  },
  {
    name: 'cancel',
    description: 'give a run up for good, also one that is going; rows that were not called stay so',
    argument: newestRun,
    options: queueOptions,
    load: async () => (await import('./actions/control.ts')).cancel,
  },
  {
    name: 'pause',
    description: 'let a run rest: no more rows are called until it is unpaused',
    argument: newestRun,
    options: queueOptions,
    load: async () => (await import('./actions/control.ts')).pause,
  },
  {
    name: 'unpause',
    description: 'let a paused run go on',
    argument: newestRun,
    options: queueOptions,
    load: async () => (await import('./actions/control.ts')).unpause,
  },
  {
    name: 'report',
    description: 'write the report of a run again, also while it is going, and show where it is',
    argument: newestRun,
    options: [],
    load: async () => (await import('./actions/report.ts')).report,
  },
  {
    name: 'worker',
    description: 'call the API for the runs of a shared datastore, until it is stopped',
    options: [
      flagOf('baseUrl', 'the API whose rows are called; never another one (CQBATCH_BASE_URL)'),
      insecureHttp,
      ['--coordinate', 'also take over the runs that were submitted to the state folder'],
      ...settings('shutdownTimeout', 'healthPort', 'healthHost'),
      [
        '--log-level <level>',
        'of the structured log on standard error: silent, error, warn, info or debug',
        'info',
      ],
      ...workerOptions,
      ...queueOptions,
    ],
    load: async () => (await import('./actions/worker.ts')).worker,
  },
  {
    name: 'submit',
    description: 'plan, ask, and hand the run to a "cqbatch worker --coordinate"',
    argument: manifest,
    options: [skipInvalid, ...startOptions, ...manifestOptions, ...policyOptions],
    load: async () => (await import('./actions/submit.ts')).submit,
  },
];
