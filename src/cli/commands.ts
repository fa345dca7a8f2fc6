import { type CommandGroupSpec, type CommandSpec, runThat } from './command-spec.ts';
import * as groups from './option-groups.ts';
import { runCommands, submitCommand } from './run-commands.ts';
import { scheduleCommands } from './schedule-commands.ts';

/** The commands, but for the sandbox, in the order in which help lists them. */
export const commands: readonly (CommandSpec | CommandGroupSpec)[] = [
  ...runCommands,
  {
    name: 'status',
    description: 'where a run stands, also while it is going',
    arguments: [runThat()],
    options: { Status: ['watch'] },
    seldomNeeded: groups.shared,
    load: async () => (await import('./actions/look/status.ts')).status,
  },
  {
    name: 'show',
    description: 'what a run was and what happened to it: when, by whom, why',
    arguments: [runThat()],
    options: { Show: ['row'] },
    seldomNeeded: groups.own,
    examples: [
      ['cqbatch show', 'the newest run'],
      ['cqbatch show jsur --row 1234', 'one row of another run'],
    ],
    load: async () => (await import('./actions/look/show.ts')).show,
  },
  {
    name: 'list',
    description: 'the runs of this state folder and of the shared datastore, newest first',
    seldomNeeded: groups.shared,
    load: async () => (await import('./actions/look/list.ts')).list,
  },
  {
    name: 'cancel',
    description: 'give a run up for good, also one that is going; rows that were not called stay so',
    arguments: [runThat(' that is going')],
    help: { yes: 'do not ask; without a terminal it needs this or a run' },
    options: { Cancel: ['yes', 'reason'] },
    seldomNeeded: groups.shared,
    load: async () => (await import('./actions/control/control.ts')).cancel,
  },
  {
    name: 'pause',
    description: 'let a run rest: no more rows are called until it is unpaused',
    arguments: [runThat(' that is running')],
    options: { Pause: ['reason'] },
    seldomNeeded: groups.shared,
    load: async () => (await import('./actions/control/control.ts')).pause,
  },
  {
    name: 'unpause',
    description: 'let a paused run go on',
    arguments: [runThat(' that is paused')],
    options: { Unpause: ['reason'] },
    seldomNeeded: groups.shared,
    load: async () => (await import('./actions/control/control.ts')).unpause,
  },
  {
    name: 'set-rate',
    description: 'change the rate of a run that is going, also while it is paused',
    arguments: [
      ['<run>', 'id of the run, or enough of it'],
      ['<rate>', 'as --rate takes it: 20/s, 600/m, auto, auto..50/s or none'],
    ],
    options: { Rate: ['reason'] },
    seldomNeeded: groups.shared,
    examples: [
      ['cqbatch set-rate jsur 20/s', '20 calls a second, by all workers together'],
      ['cqbatch set-rate jsur auto..50/s', 'what the API permits, but no more than 50'],
    ],
    load: async () => (await import('./actions/control/control.ts')).setRunRate,
  },
  {
    name: 'report',
    description: 'write the report of a run again, also while it is going, and show where it is',
    arguments: [runThat()],
    options: { Report: ['format', 'withRetries', 'open'], ...groups.reporting },
    seldomNeeded: groups.own,
    load: async () => (await import('./actions/look/report.ts')).report,
  },
  {
    name: 'prune',
    description: 'remove old runs with all their files; never one that has rows open',
    options: { Prune: ['keepLast', 'keepDays', 'dryRun'] },
    examples: [
      ['cqbatch prune --keep-last 30 --keep-days 90', 'what is neither of the 30 nor of the 90 days goes'],
    ],
    load: async () => (await import('./actions/control/prune.ts')).prune,
  },
  {
    name: 'worker',
    description: 'call the API for the runs of a shared datastore, until it is stopped',
    help: {
      baseUrl: 'the API whose rows are called; never another one',
      logLevel: 'of the structured log on standard error: silent, error, warn, info or debug (default: info)',
    },
    options: {
      API: ['baseUrl', 'tokenFile', 'allowInsecureHttp'],
      ...groups.shared,
      Worker: ['coordinate', 'healthPort', 'healthHost', 'shutdownTimeout', 'logLevel'],
    },
    seldomNeeded: {
      ...groups.own,
      Calls: groups.calling,
      'Of the daemon': ['keepLast', 'keepDays'],
      ...groups.telling,
    },
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
    options: { Dashboard: ['port', 'host', 'control'] },
    seldomNeeded: groups.shared,
    examples: [
      ['cqbatch dashboard', 'the runs of this state folder, on http://127.0.0.1:8788'],
      ['cqbatch dashboard --queue redis://10.0.0.7', 'and those of all machines'],
    ],
    load: async () => (await import('./actions/look/dashboard.ts')).dashboard,
  },
  submitCommand,
  scheduleCommands,
];
