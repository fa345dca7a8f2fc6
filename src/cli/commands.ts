import type { Flags } from './config/load.ts';
import { flagOf } from './config/settings.ts';
import type { ExitCode } from './exit-codes.ts';
import {
  audit,
  calling,
  following,
  guards,
  insecureHttp,
  moreGuards,
  type OptionGroup,
  reason,
  repeating,
  reporting,
  resumedGuards,
  rows,
  settings,
  shared,
  skipDone,
  skipInvalid,
  startOptions,
  telling,
  working,
} from './option-groups.ts';

/** A command, but for what every command has. */
export interface CommandSpec {
  readonly name: string;
  readonly description: string;
  readonly argument?: readonly [name: string, description: string];
  /** What comes after it. */
  readonly secondArgument?: readonly [name: string, description: string];
  /** In the order in which help lists them. */
  readonly options?: readonly OptionGroup[];
  /** What comes in the help after those that every command has. */
  readonly seldomNeeded?: readonly OptionGroup[];
  /** What one would type, with what it is for. */
  readonly examples?: readonly (readonly [command: string, purpose: string])[];
  /** Loads what it does: `cqbatch --help` has to be quick. */
  readonly load: () => Promise<Action>;
}

/** Does what a command is for, and gives the exit code. Without an argument, the flags come first. */
type Action =
  | ((flags: Flags) => Promise<ExitCode>)
  | ((argument: string, flags: Flags) => Promise<ExitCode>)
  | ((argument: string, second: string, flags: Flags) => Promise<ExitCode>);

const manifest = [
  '<manifest>',
  'CSV, TSV, Excel, JSON or JSON Lines file, also gzipped; - for standard input',
] as const;
/** The same, or what `plan --out` has written. */
const manifestOrPlan = [manifest[0], `${manifest[1]}; or a plan (.cqplan)`] as const;
/** The run that a command is for, by default the newest that it fits. */
function runThat(fits = ''): readonly [name: string, description: string] {
  return ['[run]', `id of the run, or enough of it; default: the newest${fits}`];
}

/** What lets a run of a manifest begin, and with which rows. */
const consent = [skipDone, ...settings('onConflict', 'allowPartial', 'confirmAbove')];

/** The commands, but for the sandbox. */
export const commands: readonly CommandSpec[] = [
  {
    name: 'plan',
    description: 'validate every row, count, estimate and preview requests; sends nothing',
    argument: manifest,
    options: [
      { heading: 'API', options: [...settings('baseUrl', 'rate'), insecureHttp] },
      {
        heading: 'Plan',
        options: [
          ['--out <file>', 'write it to NAME.cqplan, for "cqbatch run NAME.cqplan", later and elsewhere'],
          ['--approved-by <name>', 'who has looked at it'],
          skipInvalid,
        ],
      },
    ],
    seldomNeeded: [
      rows,
      guards(),
      moreGuards(undefined, [skipDone, ...settings('onConflict', 'allowPartial')]),
      { heading: 'Calls', options: settings(...calling, ...repeating) },
      reporting,
    ],
    examples: [
      ['cqbatch plan evaluations.csv', 'what would be sent, and what is wrong'],
      ['cqbatch plan evaluations.csv --rate 20/s', 'and how long it would take'],
      ['cqbatch plan evaluations.csv --out monday.cqplan', 'to be run by somebody else, or by cron'],
    ],
    load: async () => (await import('./actions/plan.ts')).plan,
  },
  {
    name: 'run',
    description: 'plan, ask, call the API for every row, and write the report',
    argument: manifestOrPlan,
    options: [
      { heading: 'API', options: [...settings('baseUrl', 'tokenFile', 'rate'), insecureHttp] },
      {
        heading: 'Run',
        options: [
          ...startOptions,
          ['--or-resume', 'go on with the run of that name, if there is one; do nothing if it is finished'],
          skipInvalid,
          ...settings('wait'),
        ],
      },
      guards(),
      following,
    ],
    seldomNeeded: [moreGuards(undefined, consent), rows, ...working(), telling, audit],
    examples: [
      ['cqbatch run evaluations.csv', 'plan, ask, do it, report'],
      ['cqbatch run evaluations.csv --rate auto..20/s', 'never more than 20 calls a second'],
      ['cqbatch run nightly.csv --run-id monday --or-resume --wait 1h --yes -qq', 'from cron'],
    ],
    load: async () => (await import('./actions/run.ts')).run,
  },
  {
    name: 'resume',
    description: 'go on where a run stopped; rows that have a result are not called again',
    argument: runThat(' that is not finished'),
    options: [
      {
        heading: 'API',
        options: [
          ...settings('tokenFile'),
          flagOf('rate', { byDefault: 'as before' }),
          flagOf('baseUrl', {
            help: 'another API, for a run of which none has answered',
            byDefault: 'as before',
          }),
          insecureHttp,
        ],
      },
      { heading: 'Run', options: settings('wait') },
      resumedGuards('as before')[0],
      following,
    ],
    seldomNeeded: [resumedGuards('as before')[1], ...working('as before'), telling, audit],
    examples: [
      ['cqbatch resume', 'the newest run'],
      ['cqbatch resume 20261121-104117-jsur --rate auto..20/s', 'another one, slower'],
    ],
    load: async () => (await import('./actions/resume.ts')).resume,
  },
  {
    name: 'retry',
    description: 'start a new run of the rows that failed in a run, or that a cancelled one never sent',
    argument: runThat(' with such rows'),
    options: [
      {
        heading: 'Rows',
        options: [
          ['--code <code...>', 'only those with these codes (column _code of the report)'],
          ['--unclear', 'only those that may have been processed unseen (column _unclear)'],
        ],
      },
      {
        heading: 'API',
        options: [...settings('tokenFile'), flagOf('rate', { byDefault: 'as in that run' })],
      },
      {
        heading: 'Run',
        options: [...startOptions, ...settings('wait')],
      },
      guards('as in that run'),
      following,
    ],
    seldomNeeded: [
      moreGuards('as in that run', settings('confirmAbove')),
      ...working('as in that run'),
      telling,
      audit,
    ],
    examples: [
      ['cqbatch retry', 'what failed in the newest run'],
      ['cqbatch retry jsur --code UNAVAILABLE INTERNAL', 'in another one, of these codes'],
    ],
    load: async () => (await import('./actions/retry.ts')).retry,
  },
  {
    name: 'undo',
    description:
      'start a new run that puts back what a run has changed, where its manifest says what was before',
    argument: runThat(' that was not undone'),
    options: [
      {
        heading: 'API',
        options: [...settings('tokenFile'), flagOf('rate', { byDefault: 'as in that run' })],
      },
      {
        heading: 'Run',
        options: [...startOptions, ...settings('wait')],
      },
      guards('as in that run'),
      following,
    ],
    seldomNeeded: [
      moreGuards('as in that run', settings('confirmAbove')),
      ...working('as in that run'),
      telling,
      audit,
    ],
    examples: [
      ['cqbatch undo', 'what the newest run has changed'],
      ['cqbatch undo jsur --reason "wrong column"', 'what another one has changed'],
    ],
    load: async () => (await import('./actions/undo.ts')).undo,
  },
  {
    name: 'status',
    description: 'where a run stands, also while it is going',
    argument: runThat(),
    options: [
      {
        heading: 'Status',
        options: [['--watch', 'follow it to its end; the exit code is then that of the run']],
      },
    ],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/status.ts')).status,
  },
  {
    name: 'show',
    description: 'what a run was and what happened to it: when, by whom, why',
    argument: runThat(),
    options: [
      {
        heading: 'Show',
        options: [['--row <n>', 'the story of one row instead: each attempt (column _row of the report)']],
      },
    ],
    examples: [
      ['cqbatch show', 'the newest run'],
      ['cqbatch show jsur --row 1234', 'one row of another run'],
    ],
    load: async () => (await import('./actions/show.ts')).show,
  },
  {
    name: 'list',
    description: 'the runs of this state folder and of the shared datastore, newest first',
    seldomNeeded: [shared],
    load: async () => (await import('./actions/list.ts')).list,
  },
  {
    name: 'cancel',
    description: 'give a run up for good, also one that is going; rows that were not called stay so',
    argument: runThat(' that is going'),
    options: [
      {
        heading: 'Cancel',
        options: [['-y, --yes', 'do not ask; without a terminal it needs this or a run'], reason],
      },
    ],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/control.ts')).cancel,
  },
  {
    name: 'pause',
    description: 'let a run rest: no more rows are called until it is unpaused',
    argument: runThat(' that is running'),
    options: [{ heading: 'Pause', options: [reason] }],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/control.ts')).pause,
  },
  {
    name: 'unpause',
    description: 'let a paused run go on',
    argument: runThat(' that is paused'),
    options: [{ heading: 'Unpause', options: [reason] }],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/control.ts')).unpause,
  },
  {
    name: 'set-rate',
    description: 'change the rate of a run that is going, also while it is paused',
    argument: ['<run>', 'id of the run, or enough of it'],
    secondArgument: ['<rate>', 'as --rate takes it: 20/s, 600/m, auto, auto..50/s or none'],
    options: [{ heading: 'Rate', options: [reason] }],
    seldomNeeded: [shared],
    examples: [
      ['cqbatch set-rate jsur 20/s', '20 calls a second, by all workers together'],
      ['cqbatch set-rate jsur auto..50/s', 'what the API permits, but no more than 50'],
    ],
    load: async () => (await import('./actions/set-rate.ts')).setRate,
  },
  {
    name: 'report',
    description: 'write the report of a run again, also while it is going, and show where it is',
    argument: runThat(),
    options: [
      {
        heading: 'Report',
        options: [
          ['--format <format>', 'xlsx also writes report.xlsx, for Excel (default: csv)'],
          ['--with-retries', 'of the run and its retries: every row once, its last state'],
        ],
      },
      reporting,
    ],
    load: async () => (await import('./actions/report.ts')).report,
  },
  {
    name: 'prune',
    description: 'remove old runs with all their files; never one that has rows open',
    options: [
      {
        heading: 'Prune',
        options: [
          ...settings('keepLast', 'keepDays'),
          ['--dry-run', 'tell what would be removed, and remove nothing'],
        ],
      },
    ],
    examples: [
      ['cqbatch prune --keep-last 30 --keep-days 90', 'what is neither of the 30 nor of the 90 days goes'],
    ],
    load: async () => (await import('./actions/prune.ts')).prune,
  },
  {
    name: 'worker',
    description: 'call the API for the runs of a shared datastore, until it is stopped',
    options: [
      {
        heading: 'API',
        options: [
          flagOf('baseUrl', { help: 'the API whose rows are called; never another one' }),
          ...settings('tokenFile'),
          insecureHttp,
        ],
      },
      shared,
      {
        heading: 'Worker',
        options: [
          ['--coordinate', 'also take over the runs that were submitted to the state folder'],
          ...settings('healthPort', 'healthHost', 'shutdownTimeout'),
          [
            '--log-level <level>',
            'of the structured log on standard error: silent, error, warn, info or debug',
            'info',
          ],
        ],
      },
    ],
    seldomNeeded: [{ heading: 'Calls', options: settings(...calling) }],
    load: async () => (await import('./actions/worker.ts')).worker,
  },
  {
    name: 'submit',
    description: 'plan, ask, and hand the run to a "cqbatch worker --coordinate"',
    argument: manifestOrPlan,
    options: [
      { heading: 'API', options: [...settings('baseUrl', 'rate'), insecureHttp] },
      { heading: 'Run', options: [...startOptions, skipInvalid] },
      guards(),
      reporting,
    ],
    seldomNeeded: [
      moreGuards(undefined, consent),
      rows,
      { heading: 'Calls', options: settings(...repeating) },
      audit,
    ],
    load: async () => (await import('./actions/submit.ts')).submit,
  },
];
