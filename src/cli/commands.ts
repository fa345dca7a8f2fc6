import { flagOf } from '../settings/settings.ts';
import { type CommandGroupSpec, type CommandSpec, runThat } from './command-spec.ts';
import {
  calling,
  insecureHttp,
  own,
  reason,
  reporting,
  settingOptions,
  shared,
  telling,
} from './option-groups.ts';
import { runCommands, submitCommand } from './run-commands.ts';
import { scheduleCommands } from './schedule-commands.ts';

/** The commands, but for the sandbox, in the order in which help lists them. */
export const commands: readonly (CommandSpec | CommandGroupSpec)[] = [
  ...runCommands,
  {
    name: 'status',
    description: 'where a run stands, also while it is going',
    argument: runThat(),
    options: [
      {
        heading: 'Status',
        options: [
          ['--watch', 'follow it to its end, without a run all that are going; the exit code is then theirs'],
        ],
      },
    ],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/look/status.ts')).status,
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
    seldomNeeded: [own],
    examples: [
      ['cqbatch show', 'the newest run'],
      ['cqbatch show jsur --row 1234', 'one row of another run'],
    ],
    load: async () => (await import('./actions/look/show.ts')).show,
  },
  {
    name: 'list',
    description: 'the runs of this state folder and of the shared datastore, newest first',
    seldomNeeded: [shared],
    load: async () => (await import('./actions/look/list.ts')).list,
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
    load: async () => (await import('./actions/control/control.ts')).cancel,
  },
  {
    name: 'pause',
    description: 'let a run rest: no more rows are called until it is unpaused',
    argument: runThat(' that is running'),
    options: [{ heading: 'Pause', options: [reason] }],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/control/control.ts')).pause,
  },
  {
    name: 'unpause',
    description: 'let a paused run go on',
    argument: runThat(' that is paused'),
    options: [{ heading: 'Unpause', options: [reason] }],
    seldomNeeded: [shared],
    load: async () => (await import('./actions/control/control.ts')).unpause,
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
    load: async () => (await import('./actions/control/set-rate.ts')).setRunRate,
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
          ['--open', 'show report.html in the browser'],
        ],
      },
      reporting,
    ],
    seldomNeeded: [own],
    load: async () => (await import('./actions/look/report.ts')).report,
  },
  {
    name: 'prune',
    description: 'remove old runs with all their files; never one that has rows open',
    options: [
      {
        heading: 'Prune',
        options: [
          ...settingOptions('keepLast', 'keepDays'),
          ['--dry-run', 'tell what would be removed, and remove nothing'],
        ],
      },
    ],
    examples: [
      ['cqbatch prune --keep-last 30 --keep-days 90', 'what is neither of the 30 nor of the 90 days goes'],
    ],
    load: async () => (await import('./actions/control/prune.ts')).prune,
  },
  {
    name: 'worker',
    description: 'call the API for the runs of a shared datastore, until it is stopped',
    options: [
      {
        heading: 'API',
        options: [
          flagOf('baseUrl', { help: 'the API whose rows are called; never another one' }),
          ...settingOptions('tokenFile'),
          insecureHttp,
        ],
      },
      shared,
      {
        heading: 'Worker',
        options: [
          ['--coordinate', 'be a daemon: take over submitted runs, and carry out schedules'],
          ...settingOptions('healthPort', 'healthHost', 'shutdownTimeout'),
          [
            '--log-level <level>',
            'of the structured log on standard error: silent, error, warn, info or debug',
            'info',
          ],
        ],
      },
    ],
    seldomNeeded: [
      own,
      { heading: 'Calls', options: settingOptions(...calling) },
      { heading: 'Of the daemon', options: settingOptions('keepLast', 'keepDays') },
      telling,
    ],
    examples: [
      ['cqbatch worker --queue redis://10.0.0.7', 'one more machine that calls the API'],
      ['cqbatch worker --coordinate', 'a daemon: submitted runs and schedules of this state folder'],
      ['cqbatch worker --coordinate --concurrency 0', 'the same where other workers call'],
    ],
    load: async () => (await import('./actions/serve/worker.ts')).worker,
  },
  {
    name: 'dashboard',
    description: 'a page that shows runs, workers and schedules live, until it is stopped',
    options: [
      {
        heading: 'Dashboard',
        options: [
          ['--port <port>', 'where it listens; 0: any free one', '8788'],
          ['--host <address>', 'address for that; others than this machine may look at it then', '127.0.0.1'],
          ['--control', 'print an address whose first visitor may pause, cancel and set rates'],
        ],
      },
    ],
    seldomNeeded: [shared],
    examples: [
      ['cqbatch dashboard', 'the runs of this state folder, on http://127.0.0.1:8788'],
      ['cqbatch dashboard --queue redis://10.0.0.7', 'and those of all machines'],
    ],
    load: async () => (await import('./actions/look/dashboard.ts')).dashboard,
  },
  submitCommand,
  scheduleCommands,
];
